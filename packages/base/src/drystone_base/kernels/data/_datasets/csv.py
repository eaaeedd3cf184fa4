"""A dataset of the records of CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from drystone_base.core.dtypes import STRING
from drystone_base.core.tensor import string_array
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.data._datasets.base import Element
from drystone_base.kernels.data._datasets.files import Files, Resuming
from drystone_base.kernels.io._records import decompressed
from drystone_base.kernels.string._number_text import read_number

__all__ = ["CsvRecords", "CsvSpec"]


@dataclass(frozen=True)
class CsvSpec:
    """How to read a record: which columns, and what stands for a missing field of each."""

    header: bool
    delimiter: bytes
    quotes: bool
    missing: bytes
    defaults: Sequence[Array]
    chosen: Sequence[int]
    left_out: Sequence[int]


class CsvRecords(Files):
    """Records of comma-separated values, one component for each column."""

    def __init__(self, call: Call, names: Sequence[bytes], compression: str, spec: CsvSpec) -> None:
        super().__init__(call, names, compression)
        self.spec = spec

    def read(self, stream: BinaryIO, index: int) -> Iterator[Element]:
        """Record by record; one that does not fit fails alone."""
        data = decompressed(stream, self.compression, self.where(index)).read()
        return _Records(self, data)


class _Records(Resuming):
    """The records of one file's bytes."""

    def __init__(self, dataset: CsvRecords, data: bytes) -> None:
        self.dataset, self.spec, self.data = dataset, dataset.spec, data
        self.at = 0
        if self.spec.header:
            self.record()

    def __next__(self) -> Element:
        if self.at >= len(self.data):
            raise StopIteration
        fields = self.record()
        spec, call = self.spec, self.dataset.call
        if spec.chosen:
            enough = spec.chosen[-1] < len(fields)
            picked = [fields[k] for k in spec.chosen] if enough else []
        else:
            picked = [f for k, f in enumerate(fields) if k not in spec.left_out]
            enough = len(picked) == len(spec.defaults)
        call.require(
            enough,
            "a record must have as many fields as there are defaults",
            found=f"{len(fields)} fields before byte {self.at}",
            needed=spec.chosen[-1] + 1 if spec.chosen else len(spec.defaults),
        )
        return [self.value(field, k) for k, field in enumerate(picked)]

    def value(self, field: bytes, column: int) -> Array:
        dtype, default = self.dataset.types[column], self.spec.defaults[column]
        if field in (b"", self.spec.missing):
            self.dataset.call.require(
                default.size == 1,
                "a field without default is required",
                found=f"field {column} before byte {self.at} is empty",
                needed="a value",
            )
            return default.reshape(())
        if dtype is STRING:
            return string_array([field], ())
        value = read_number(field, dtype)
        if value is None:
            self.dataset.call.fail(
                "a field must be of its column's type",
                found=f"{field[:40]!r} in field {column} before byte {self.at}",
                needed=dtype,
            )
        return np.array(value, dtype.np)

    def record(self) -> list[bytes]:
        """The fields up to the end of a line, which is passed; the first fault is raised then."""
        fields: list[bytes] = []
        faults: list[str] = []
        while True:
            if self.spec.quotes and self.data[self.at : self.at + 1] == b'"':
                fields.append(self.quoted(faults))
            else:
                fields.append(self.plain(faults))
            end = self.data[self.at : self.at + 1]
            self.at += 1
            if end == self.spec.delimiter:
                continue
            if end == b"\r" and self.data[self.at : self.at + 1] == b"\n":
                self.at += 1
            break
        self.dataset.call.require(
            not faults,
            "the quotes of a field must open it, close it, or be doubled inside",
            found=faults[0] if faults else "",
            needed='a field such as "a ""b"" c"',
        )
        return fields

    def plain(self, faults: list[str]) -> bytes:
        ends = (self.data.find(c, self.at) for c in (self.spec.delimiter, b"\n", b"\r"))
        end = min((e for e in ends if e >= 0), default=len(self.data))
        field, self.at = self.data[self.at : end], end
        if self.spec.quotes and b'"' in field:
            faults.append(f"{field[:40]!r} before byte {end}")
        return field

    def quoted(self, faults: list[str]) -> bytes:
        out, at = b"", self.at + 1
        while True:
            end = self.data.find(b'"', at)
            if end < 0:
                faults.append(f"a quote without its pair at byte {self.at}")
                self.at = len(self.data)
                return out
            out += self.data[at:end]
            if self.data[end + 1 : end + 2] != b'"':
                break
            out, at = out + b'"', end + 2
        opened, self.at = self.at, end + 1
        rest = self.data[self.at : self.at + 1]
        if rest not in (b"", b"\n", b"\r", self.spec.delimiter):
            faults.append(f"text behind the field that byte {opened} begins")
            self.plain([])
        return out
