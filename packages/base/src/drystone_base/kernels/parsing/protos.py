"""Fields of any protocol buffer message as tensors, and back.

Source: TensorFlow ops DecodeProtoV2, EncodeProto. The wire format is the protobuf library's: each
op makes a message type with the wanted fields, all of them repeated and messages as bytes, so that
every value comes as it stands on the wire.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    text_format,
)
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

import drystone_abi.protos
from drystone_base.core.dtypes import STRING, DType, from_numpy
from drystone_base.core.tensor import string_array
from drystone_base.files.uris import as_path
from drystone_base.graph.pbtxt import spelled_out
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import attr_bytes
from drystone_base.kernels._variants import blank

_F: Final = FieldDescriptor
_WIDE: Final = {
    "int32": {_F.TYPE_INT32, _F.TYPE_SINT32, _F.TYPE_SFIXED32, _F.TYPE_ENUM},
    "int64": {_F.TYPE_INT32, _F.TYPE_SINT32, _F.TYPE_SFIXED32, _F.TYPE_INT64, _F.TYPE_SINT64,
              _F.TYPE_SFIXED64},
    "uint32": {_F.TYPE_UINT32, _F.TYPE_FIXED32},
    "uint64": {_F.TYPE_UINT32, _F.TYPE_FIXED32, _F.TYPE_UINT64, _F.TYPE_FIXED64},
    "float32": {_F.TYPE_FLOAT},
    "float64": {_F.TYPE_FLOAT, _F.TYPE_DOUBLE},
    "bool": {_F.TYPE_BOOL},
    "string": {_F.TYPE_STRING, _F.TYPE_BYTES, _F.TYPE_MESSAGE},
}  # fmt: skip
"""The fields that each dtype can hold."""


def _named(call: Call, pool: Any, name: str) -> Descriptor:
    try:
        found: Descriptor = pool.FindMessageTypeByName(name)
    except KeyError as error:
        call.fail(
            "the message type must be known",
            found=name,
            needed="a message of the descriptor source",
            remedy="give descriptor_source a file with a FileDescriptorSet, or bytes:// and one",
            inner=error,
        )
    return found


def _known_here(call: Call, name: str) -> Descriptor:
    """A message that this process knows; TensorFlow's own by drystone's of the same name."""
    package, _, rest = name.partition(".")
    if package == "tensorflow" and hasattr(drystone_abi.protos, rest):
        found: Descriptor = getattr(drystone_abi.protos, rest).DESCRIPTOR
        return found
    return _named(call, descriptor_pool.Default(), name)


def _source_bytes(call: Call) -> bytes:
    source = attr_bytes(call, "descriptor_source")
    if source.startswith(b"bytes://"):
        return source.removeprefix(b"bytes://")
    path = as_path(os.fsdecode(source))
    call.runtime.access.check_read(call, path)
    try:
        return path.read_bytes()
    except OSError as error:
        call.fail(
            "descriptor_source must be local://, bytes:// and descriptors, or a readable file",
            found=str(path),
            needed="a serialized FileDescriptorSet",
            inner=error,
        )


def _descriptor(call: Call) -> Descriptor:
    """The message type, out of the descriptor source."""
    name = str(call.attrs["message_type"])
    if call.attrs["descriptor_source"] in ("", "local://"):
        return _known_here(call, name)
    pool = descriptor_pool.DescriptorPool()
    try:
        for file in descriptor_pb2.FileDescriptorSet.FromString(_source_bytes(call)).file:
            pool.Add(file)
        return _named(call, pool, name)
    except (DecodeError, TypeError) as error:
        call.fail(
            "descriptor_source must hold descriptors that fit one another",
            found=str(error),
            needed="a serialized FileDescriptorSet",
            inner=error,
        )


def _field(call: Call, message: Descriptor, name: str, dtype: DType) -> FieldDescriptor:
    """A field or, by its full name, an extension; of a type that the dtype can hold."""
    field: FieldDescriptor | None = message.fields_by_name.get(name)
    if field is None:
        extensions = message.file.pool.FindAllExtensions(message)
        field = next((e for e in extensions if e.full_name == name), None)
    if field is None:
        call.fail("the message must have the field", found=name, needed=message.full_name)
    call.require(
        field.type in _WIDE.get(dtype.label, ()),
        f"field {name!r} must fit its tensor's type (groups fit none)",
        found=dtype,
        needed=[label for label, kinds in _WIDE.items() if field.type in kinds],
    )
    return field


def _repeated(field: Any) -> bool:  # a FieldDescriptor of any version of protobuf
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == 3


def _packed(field: Any) -> bool:
    """Whether a repeated field's values are written side by side."""
    if hasattr(field, "is_packed"):
        return bool(field.is_packed)
    options = field.GetOptions()
    if options.HasField("packed"):
        return bool(options.packed)
    return _repeated(field) and field.file.syntax == "proto3" and field.type not in _WIDE["string"]


def _wire_class(fields: Sequence[FieldDescriptor]) -> type[Message]:
    """A message type with these fields alone, by number, all repeated; text and messages bytes."""
    kinds = {_F.TYPE_STRING: _F.TYPE_BYTES, _F.TYPE_MESSAGE: _F.TYPE_BYTES,
             _F.TYPE_ENUM: _F.TYPE_INT32}  # fmt: skip
    key = sorted({(f.number, int(kinds.get(f.type, f.type)), _packed(f)) for f in fields})
    return _class_of(tuple(key))


@functools.lru_cache(64)
def _class_of(fields: tuple[tuple[int, int, bool], ...]) -> type[Message]:
    file = descriptor_pb2.FileDescriptorProto(name="fields.proto", syntax="proto2")
    made = file.message_type.add(name="Fields")
    for number, kind, packed in fields:
        one: Any = made.field.add(name=f"f{number}", number=number, label=3, type=kind)
        one.options.packed = packed
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("Fields"))


def _values(call: Call, text: bytes, fields: Sequence[FieldDescriptor], wire: Any) -> list[Any]:
    """The values of each field of a serialized message; of a field that occurs once the last."""
    try:
        message = wire.FromString(text)
    except DecodeError as error:
        call.fail(
            "a string must be a serialized message",
            found=repr(text[:40]),
            needed=call.attrs["message_type"],
            status="DATA_LOSS",
            inner=error,
        )
    rows = [list(getattr(message, f"f{field.number}")) for field in fields]
    return [r if _repeated(f) else r[-1:] for r, f in zip(rows, fields, strict=True)]


def _plain(call: Call, texts: Sequence[bytes], message: Descriptor) -> Sequence[bytes]:
    """The messages in binary; parsed and written again if asked."""
    kind = call.attrs["message_format"]
    call.require(
        kind in ("binary", "text"),
        "message_format must be known",
        found=repr(kind),
        needed="binary or text",
    )
    if kind == "binary" and not call.attrs["sanitize"]:
        return texts
    made = message_factory.GetMessageClass(message)

    def rewritten(text: bytes) -> bytes:
        try:
            if kind == "binary":
                parsed = made.FromString(text)
            else:
                parsed = text_format.Parse(spelled_out(text.decode()), made())
        except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
            call.fail(
                f"a string must be a message in {kind} format",
                found=repr(text[:40]),
                needed=message.full_name,
                status="DATA_LOSS",
                inner=error,
            )
        return parsed.SerializeToString(deterministic=True)

    return [rewritten(text) for text in texts]


def _default(field: FieldDescriptor) -> Any:
    if field.type == _F.TYPE_MESSAGE:
        return b""
    if _repeated(field):
        return b"" if field.type in _WIDE["string"] else 0
    value = field.default_value
    return value.encode() if isinstance(value, str) else value


@kernel("DecodeProtoV2")
def decode_proto(call: Call, texts: Array) -> list[Array]:
    """How many values each field has in each message, then the values, filled with defaults."""
    a = call.attrs
    message = _descriptor(call)
    names, kinds = a["field_names"], a["output_types"]
    call.require(
        len(names) == len(kinds),
        "there must be one type for each field",
        found=f"{len(names)} fields, {len(kinds)} types",
        needed="equal numbers",
    )
    fields = [_field(call, message, n, t) for n, t in zip(names, kinds, strict=True)]
    call.require(texts.size, "there must be a message", found=list(texts.shape), needed="1 or more")
    wire = _wire_class(fields)
    flat = _plain(call, texts.reshape(-1).tolist(), message)
    rows = [_values(call, text, fields, wire) for text in flat]
    sizes = np.array([[len(v) for v in row] for row in rows], np.int32)
    out = [sizes.reshape(*texts.shape, len(fields))]
    for k, (field, dtype) in enumerate(zip(fields, kinds, strict=True)):
        width = max(1, int(sizes[:, k].max()))
        made = blank(check_size(call, (len(rows), width), dtype.np), dtype)
        made[...] = _default(field)
        for place, row in zip(made, rows, strict=True):
            place[: len(row[k])] = row[k]
        out.append(made.reshape(*texts.shape, width))
    return out


@kernel("EncodeProto")
def encode_proto(call: Call, sizes: Array, *values: Array) -> Array:
    """Messages of which field k has the first ``sizes[..., k]`` of ``values[k]``."""
    message, names = _descriptor(call), call.attrs["field_names"]
    call.require(
        len(names) == len(values) and values,
        "there must be one tensor for each field",
        found=f"{len(names)} fields, {len(values)} tensors",
        needed="equal numbers",
    )
    fields = [
        _field(call, message, n, STRING if v.dtype == object else from_numpy(v.dtype))
        for n, v in zip(names, values, strict=True)
    ]
    prefix = values[0].shape[:-1]
    call.require(
        all(v.ndim >= 2 and v.shape[:-1] == prefix for v in values),
        "values must be matrices or more, alike up to the last dimension",
        found=[list(v.shape) for v in values],
        needed="[..., count]",
    )
    call.require(
        sizes.shape == (*prefix, len(fields)),
        "sizes must tell how many values each field of each message has",
        found=list(sizes.shape),
        needed=[*prefix, len(fields)],
    )
    counts = sizes.reshape(-1, len(fields))
    limits = np.array([v.shape[-1] for v in values])
    call.require(
        bool(((counts >= 0) & (counts <= limits)).all()),
        "sizes must not exceed the values that there are",
        found=counts.max(axis=0).tolist() if counts.size else [],
        needed=f"at most {limits.tolist()}",
    )
    wire = _wire_class(fields)
    flat = [v.reshape(-1, v.shape[-1]) for v in values]
    texts = []
    for m, row in enumerate(counts.tolist()):
        made = wire()
        for field, value, count in zip(fields, flat, row, strict=True):
            getattr(made, f"f{field.number}").extend(_fitting(value[m, :count], field))
        texts.append(made.SerializeToString(deterministic=True))
    return string_array(texts, prefix)


def _fitting(values: Array, field: FieldDescriptor) -> list[Any]:
    """Values as the field holds them: wide integers are cut to 32 bits."""
    if field.type in _WIDE["int32"]:
        values = values.astype(np.int32)
    elif field.type in _WIDE["uint32"]:
        values = values.astype(np.uint32)
    elif field.type in _WIDE["float32"]:
        values = values.astype(np.float32)
    return list(values.tolist())
