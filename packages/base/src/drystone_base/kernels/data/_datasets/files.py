"""Datasets of what files hold: lines, records of one length, TFRecords; and of files' names."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Final

from drystone_base.core.errors import DrystoneError, KernelError
from drystone_base.core.tensor import string_array
from drystone_base.files.uris import as_path
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.data._datasets.base import UNKNOWN, Context, Dataset, Element, Next
from drystone_base.kernels.io._records import decompressed, read_records

__all__ = ["COMPRESSIONS", "Files", "FixedLength", "Lines", "Names", "Records", "text"]

COMPRESSIONS: Final = ("", "ZLIB", "GZIP")


def text(value: bytes) -> Element:
    """An element of one string."""
    return [string_array([value], ())]


class Files(Dataset):
    """Elements read from one file after the other."""

    def __init__(self, call: Call, names: Sequence[bytes], compression: str) -> None:
        super().__init__(call)
        self.names, self.compression = names, compression

    skips_spoilt = False
    """Whether the next file is read after one that cannot be read on; else its failure stays."""

    @abc.abstractmethod
    def read(self, stream: BinaryIO, index: int) -> Iterator[Element]:
        """The elements of file ``index``, opened and closed by the caller."""

    def iterate(self, context: Context) -> Next:
        """File by file."""
        return _Reading(self, context).advance

    def open(self, context: Context, index: int) -> BinaryIO:
        """The file, if the session may read it."""
        path = as_path(os.fsdecode(self.names[index]))
        context.runtime.access.check_read(self.call, path)
        try:
            return path.open("rb")
        except (OSError, ValueError) as error:
            self.call.fail(
                "the file must be readable",
                found=str(path),
                needed="a file",
                status="NOT_FOUND",
                inner=error,
            )

    def where(self, index: int) -> str:
        """The file in a message."""
        return f"node {self.call.node!r} ({self.call.op}): {os.fsdecode(self.names[index])}"

    def cardinality(self) -> int:
        """Unknown before they are read."""
        return UNKNOWN


class _Reading:
    """One iteration over files."""

    def __init__(self, dataset: Files, context: Context) -> None:
        self.dataset, self.context = dataset, context
        self.index = 0
        self.stream: BinaryIO | None = None
        self.elements: Iterator[Element] = iter(())

    def advance(self) -> Element | None:
        while True:
            if self.stream is None:
                if self.index == len(self.dataset.names):
                    return None
                self.stream = self.dataset.open(self.context, self.index)
                self.elements = self.dataset.read(self.stream, self.index)
            try:
                element = next(self.elements, None)
            except DrystoneError as error:
                if self.dataset.skips_spoilt:
                    self.close()
                elif not isinstance(self.elements, Resuming):
                    self.elements = _Failing(error)
                raise
            if element is not None:
                return element
            self.close()

    def close(self) -> None:
        if self.stream is not None:
            self.stream.close()
        self.stream = None
        self.index += 1


class Resuming(abc.ABC, Iterator[Element]):
    """Elements of a file of which one may fail and the next be read all the same."""


class _Failing(Resuming):
    """A file that cannot be read on."""

    def __init__(self, error: DrystoneError) -> None:
        self.error = error

    def __next__(self) -> Element:
        raise self.error


class Lines(Files):
    """Lines of text without their ends."""

    def read(self, stream: BinaryIO, index: int) -> Iterator[Element]:
        """Line by line; carriage returns are dropped wherever they are."""
        for line in decompressed(stream, self.compression, self.where(index)):
            bare = line.replace(b"\r", b"")
            if bare:
                yield text(bare.removesuffix(b"\n"))


class Records(Files):
    """TFRecords. ``offsets``: where to begin in each file."""

    skips_spoilt = True

    def __init__(
        self, call: Call, names: Sequence[bytes], compression: str, offsets: Sequence[int]
    ) -> None:
        super().__init__(call, names, compression)
        self.offsets = offsets

    def read(self, stream: BinaryIO, index: int) -> Iterator[Element]:
        """Record by record."""
        where = self.where(index)
        data = decompressed(stream, self.compression, where)
        left = self.offsets[index] if self.offsets else 0
        self.call.require(
            left >= 0, "the place to begin must not be negative", found=left, needed="0 or more"
        )
        while left and (piece := data.read(min(left, _PIECE))):
            left -= len(piece)
        for record in read_records(data, "", where):
            yield text(record)


_PIECE: Final = 1 << 18


class FixedLength(Files):
    """Records of ``size`` bytes between a header and a footer."""

    skips_spoilt = True

    def __init__(
        self, call: Call, names: Sequence[bytes], compression: str, sizes: tuple[int, int, int]
    ) -> None:
        super().__init__(call, names, compression)
        self.header, self.size, self.footer = sizes

    def open(self, context: Context, index: int) -> BinaryIO:
        """The file; what is between header and footer must be whole records."""
        stream = super().open(context, index)
        if not self.compression:
            body = stream.seek(0, os.SEEK_END) - self.header - self.footer
            stream.seek(0)
            if body % self.size:
                stream.close()
                self._check(False, index)
        return stream

    def read(self, stream: BinaryIO, index: int) -> Iterator[Element]:
        """Record by record."""
        data = decompressed(stream, self.compression, self.where(index))
        self._check(len(data.read(self.header)) == self.header, index)
        held = b""
        while True:
            held += data.read(self.size + self.footer - len(held))
            if len(held) < self.size + self.footer:
                break
            yield text(held[: self.size])
            held = held[self.size :]
        self._check(len(held) == self.footer, index, "DATA_LOSS")

    def _check(self, ok: bool, index: int, status: str = "INVALID_ARGUMENT") -> None:
        if not ok:
            raise KernelError(
                f"{self.where(index)} cannot be read",
                check="a file must hold whole records between its header and footer",
                found="another number of bytes",
                needed=f"{self.header} bytes, records of {self.size}, {self.footer} bytes",
                remedy="is it the file that the graph was made for?",
                status=status,
            )


class Names(Dataset):
    """Names of files that match patterns, as ``find`` gives them."""

    def __init__(
        self, call: Call, patterns: Sequence[bytes], find: Callable[[Call, bytes], Array]
    ) -> None:
        super().__init__(call)
        self.patterns, self.find = patterns, find

    def iterate(self, context: Context) -> Next:
        """Pattern by pattern, each sorted."""
        left = list(reversed(self.patterns))
        names: list[bytes] = []

        def advance() -> Element | None:
            while not names and left:
                context.tick(self.call)
                names.extend(reversed(self.find(self.call, left.pop()).tolist()))
            return text(names.pop()) if names else None

        return advance

    def cardinality(self) -> int:
        """Unknown before the folders are read."""
        return UNKNOWN
