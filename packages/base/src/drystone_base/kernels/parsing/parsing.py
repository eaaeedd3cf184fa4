"""Tensors and examples to bytes and back, and lines of comma-separated values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from drystone_abi.protos import Example, TensorProto
from drystone_base.core.dtypes import STRING, DType
from drystone_base.core.errors import DrystoneError
from drystone_base.core.tensor import from_proto, string_array, to_proto
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import each, scalar_string
from drystone_base.kernels.string._number_text import read_number


@kernel("ParseTensor")
def parse_tensor(call: Call, serialized: Array) -> Array:
    """The tensor in a serialized TensorProto, which must be of ``out_type``."""
    text = scalar_string(call, serialized, "the serialized tensor")
    try:
        proto = TensorProto.FromString(text)
        value = from_proto(proto)
    except (DecodeError, DrystoneError) as error:
        call.fail(
            "the string must be a serialized tensor",
            found=repr(text[:40]),
            needed="TensorProto",
            inner=error,
        )
    call.require(
        proto.dtype == call.attrs["out_type"].number,
        "the tensor must have the declared type",
        found=value.dtype,
        needed=call.attrs["out_type"],
    )
    return value


@kernel("SerializeTensor")
def serialize_tensor(_: Call, tensor: Array) -> Array:
    """The tensor as a serialized TensorProto."""
    return string_array([to_proto(tensor).SerializeToString(deterministic=True)], ())


@kernel("DecodeJSONExample")
def decode_json_example(call: Call, texts: Array) -> Array:
    """Each Example in JSON as a serialized one."""
    from google.protobuf import json_format  # only this kernel needs it, and it is slow to import

    def convert(text: bytes) -> bytes:
        try:
            example = json_format.Parse(text, Example())
        except (json_format.ParseError, UnicodeDecodeError) as error:
            call.fail(
                "a string must be an Example in JSON",
                found=repr(text[:80]),
                needed="Example",
                inner=error,
            )
        return example.SerializeToString(deterministic=True)

    return each(convert, texts)


@kernel("DecodeCSV")
def decode_csv(call: Call, records: Array, *defaults: Array) -> list[Array]:
    """One column for each default, from a field of every record; empty fields take the default."""
    a = call.attrs
    delimiter = a["field_delim"].encode()
    call.require(
        len(delimiter) == 1, "the delimiter must be one byte", found=repr(a["field_delim"])
    )
    chosen = a["select_cols"]
    call.require(
        not chosen or len(chosen) == len(defaults),
        "there must be one default for each selected column",
        found=len(chosen),
        needed=len(defaults),
    )
    call.require(
        all(d.size <= 1 and d.ndim <= 1 for d in defaults),
        "a default must be one value, or none",
        found=[list(d.shape) for d in defaults],
        needed="[0], [1] or a scalar",
    )
    columns: list[list[Any]] = [[] for _ in defaults]
    for number, record in enumerate(records.ravel().tolist()):
        fields = _fields(call, record, delimiter)
        enough = max(chosen) < len(fields) if chosen else len(fields) == len(defaults)
        call.require(
            enough,
            "a record must have as many fields as there are defaults",
            found=f"{len(fields)} fields in record {number}",
            needed=max(chosen) + 1 if chosen else len(defaults),
        )
        picked = [fields[k] for k in chosen] if chosen else fields
        for k, (field, default) in enumerate(zip(picked, defaults, strict=True)):
            columns[k].append(_value(call, field, default, a["OUT_TYPE"][k], (number, k)))
    return [
        string_array(c, records.shape) if t is STRING else np.array(c, t.np).reshape(records.shape)
        for c, t in zip(columns, a["OUT_TYPE"], strict=True)
    ]


def _value(call: Call, field: bytes, default: Array, dtype: DType, where: tuple[int, int]) -> Any:
    if field in (b"", call.attrs["na_value"].encode("utf-8", "surrogateescape")):
        call.require(
            default.size == 1,
            "a field without default is required",
            found=f"field {where[1]} of record {where[0]} is empty",
            needed="a value",
        )
        return default.item()
    value = field if dtype is STRING else read_number(field, dtype)
    if value is None:
        call.fail(
            "a field must be of its column's type",
            found=f"{field[:40]!r} in field {where[1]} of record {where[0]}",
            needed=dtype,
        )
    return value


def _fields(call: Call, record: bytes, delimiter: bytes) -> list[bytes]:
    if not record:
        return []
    if not call.attrs["use_quote_delim"]:
        _check_plain(call, record, b"\r\n")
        return record.split(delimiter)
    return list(_quoted_fields(call, record, delimiter))


def _check_plain(call: Call, field: bytes, forbidden: bytes) -> None:
    call.require(
        not set(field) & set(forbidden),
        "a field without quotes must hold neither quotes nor line breaks",
        found=repr(field[:40]),
        needed="quotes around the field",
    )


def _quoted_fields(call: Call, record: bytes, delimiter: bytes) -> Iterator[bytes]:
    """Fields of RFC 4180: in quotes they may hold delimiters, line breaks and doubled quotes."""
    at = 0
    while True:
        if record[at : at + 1] == b'"':
            field, at = _quoted(call, record, at + 1)
            call.require(
                record[at : at + 1] in (b"", delimiter),
                "a closing quote must end the field",
                found=repr(record[at : at + 20]),
                needed="a delimiter",
            )
        else:
            end = record.find(delimiter, at)
            end = len(record) if end < 0 else end
            field, at = record[at:end], end
            _check_plain(call, field, b'"\r\n')
        yield field
        if at >= len(record):
            return
        at += 1


def _quoted(call: Call, record: bytes, at: int) -> tuple[bytes, int]:
    """A quoted field from behind its opening quote on, and where its closing quote ends."""
    out = b""
    while True:
        end = record.find(b'"', at)
        call.require(end >= 0, "a quoted field must end", found=repr(record[:40]), needed='"')
        out += record[at:end]
        if record[end + 1 : end + 2] != b'"':
            return out, end + 1
        out += b'"'
        at = end + 2
