"""Nested arguments and results of functions, as a SavedModel states them.

A structure is a Python value (None, a bool, a number, text), a tensor, a composite of tensors, or a
list, tuple, named tuple or dict of structures. Its tensors are numbered as ``tf.nest`` flattens it:
dicts by sorted key. Source: TensorFlow ``struct.proto``.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from drystone_abi.protos import StructuredValue, TypeSpecProto
from drystone_base.core.dtypes import DType, from_number
from drystone_base.core.errors import BadModelFile
from drystone_base.core.printable import plain
from drystone_base.core.shown import shape_text
from drystone_base.ops.attrs import Shape, decode_shape, encode_shape

__all__ = [
    "Composite", "Structure", "Tensor", "bad_objects", "decode", "encode", "leaves", "pack", "show",
]  # fmt: skip

Structure: TypeAlias = Any


_make: Final[Callable[[str, list[str]], Callable[..., Any]]] = collections.namedtuple  # noqa: PYI024 (only the file knows its fields)


_NUMBERS: Final = {int: "int64_value", float: "float64_value", str: "string_value"}


class Tensor(NamedTuple):
    """A tensor of a structure, with what it is called, its dtype and its shape."""

    name: str
    dtype: DType
    shape: Shape


class Composite(NamedTuple):
    """A value of several tensors, such as a ragged one: the name of its kind, and how many."""

    kind: str
    parts: int


def decode(value: StructuredValue, what: str) -> Structure:
    """The structure; raises ``BadModelFile`` (``bad-saved-model``) that names ``what``."""
    kind = value.WhichOneof("kind")
    if kind is None or kind == "none_value":
        return None
    if kind in ("bool_value", "int64_value", "float64_value", "string_value"):
        return getattr(value, kind)
    if kind in ("list_value", "tuple_value"):
        items = [decode(v, what) for v in getattr(value, kind).values]
        return items if kind == "list_value" else tuple(items)
    if kind == "dict_value":
        fields = value.dict_value.fields
        return {key: decode(fields[key], what) for key in sorted(fields)}
    if kind == "named_tuple_value":
        return _named(value, what)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        spec = getattr(value, kind)
        shape = decode_shape(spec.shape) if spec.HasField("shape") else None
        return Tensor(spec.name, from_number(spec.dtype).base, shape)
    if kind == "type_spec_value":
        return _composite(value.type_spec_value)
    if kind == "tensor_dtype_value":
        return from_number(value.tensor_dtype_value)
    if kind == "tensor_shape_value":
        return decode_shape(value.tensor_shape_value)
    raise bad_objects(what, f"a {kind} in a structure")


def encode(structure: Structure) -> StructuredValue:
    """The proto of a structure; raises ``TypeError`` for a value that has none."""
    value = StructuredValue()
    if structure is None:
        value.none_value.SetInParent()
    elif isinstance(structure, Tensor):
        spec = value.tensor_spec_value
        spec.name, spec.dtype = structure.name, structure.dtype.number  # type: ignore[assignment]
        spec.shape.CopyFrom(encode_shape(structure.shape))
    elif isinstance(structure, bool):
        value.bool_value = structure
    elif type(structure) in _NUMBERS:
        setattr(value, _NUMBERS[type(structure)], structure)
    elif isinstance(structure, Mapping):
        value.dict_value.SetInParent()
        for key, inner in structure.items():
            value.dict_value.fields[key].CopyFrom(encode(inner))
    elif isinstance(structure, tuple) and hasattr(structure, "_fields"):
        value.named_tuple_value.name = type(structure).__name__
        for key, inner in zip(structure._fields, structure, strict=True):
            value.named_tuple_value.values.add(key=key, value=encode(inner))
    elif isinstance(structure, list | tuple):
        kind = value.list_value if isinstance(structure, list) else value.tuple_value
        kind.SetInParent()
        kind.values.extend(map(encode, structure))
    else:
        raise TypeError(f"no structure: {type(structure).__name__}")
    return value


def bad_objects(what: str, found: object) -> BadModelFile:
    """The error of an object graph that does not hang together."""
    return BadModelFile(
        f"the object graph of {what} cannot be used",
        check="objects, functions and structures must be those that TensorFlow writes",
        found=found,
        needed="a sound SavedObjectGraph",
        remedy="export the model again; its signatures can be called without it",
        code="bad-saved-model",
    )


def _named(value: StructuredValue, what: str) -> Structure:
    pairs = value.named_tuple_value.values
    names = [pair.key for pair in pairs]
    try:
        made = _make(value.named_tuple_value.name or "Tuple", names)
    except ValueError as error:
        raise bad_objects(what, error) from error
    return made(*(decode(pair.value, what) for pair in pairs))


def _composite(spec: TypeSpecProto) -> Composite:
    """A composite; those of which no count of tensors is stated are of one."""
    kind = TypeSpecProto.TypeSpecClass.Name(spec.type_spec_class)
    name = spec.type_spec_class_name or kind
    return Composite(name.rpartition(".")[2].removesuffix("Spec"), spec.num_flat_components or 1)


def leaves(structure: Structure) -> Iterator[Any]:
    """What a structure holds, in the order in which ``tf.nest`` flattens it."""
    if isinstance(structure, Tensor | Composite):
        yield structure
    elif isinstance(structure, dict):
        for key in sorted(structure):
            yield from leaves(structure[key])
    elif isinstance(structure, list | tuple):
        for item in structure:
            yield from leaves(item)
    else:
        yield structure


def pack(structure: Structure, values: Iterator[Any]) -> Any:
    """The structure with ``values`` in place of its tensors; composites become tuples of theirs."""
    if isinstance(structure, Tensor):
        return next(values)
    if isinstance(structure, Composite):
        return tuple(next(values) for _ in range(structure.parts))
    if isinstance(structure, dict):
        return {key: pack(structure[key], values) for key in sorted(structure)}
    if isinstance(structure, list):
        return [pack(item, values) for item in structure]
    if isinstance(structure, tuple):
        items = [pack(item, values) for item in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else tuple(items)
    return structure


def show(structure: Structure) -> str:
    """A structure for people: ``{a: float32 [?, 3], b: (int64 [], True)}``."""
    if isinstance(structure, Tensor):
        return f"{structure.dtype} {shape_text(structure.shape)}"
    if isinstance(structure, Composite):
        return f"{plain(structure.kind)} of {structure.parts} tensors"
    if isinstance(structure, Mapping):
        return "{" + ", ".join(f"{plain(k)}: {show(v)}" for k, v in structure.items()) + "}"
    if isinstance(structure, list | tuple):
        items = ", ".join(map(show, structure))
        return f"[{items}]" if isinstance(structure, list) else f"({items})"
    return repr(structure)
