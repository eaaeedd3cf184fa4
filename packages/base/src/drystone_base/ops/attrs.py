"""Attribute values: the Python form of ``AttrValue`` protos, decoded lazily and encoded back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from drystone_abi.protos import AttrValue, NameAttrList, TensorProto, TensorShapeProto
from drystone_base.core.dtypes import DType, from_number
from drystone_base.core.errors import GraphError
from drystone_base.core.tensor import (
    as_strings,
    copy_in_pieces,
    from_proto,
    read_only,
    to_proto,
)
from drystone_base.files.mapped import Place, let_go, place_of

__all__ = [
    "FunctionRef",
    "Placeholder",
    "Shape",
    "TensorAttr",
    "decode_attr",
    "decode_shape",
    "encode_attr",
    "encode_shape",
]

Shape: TypeAlias = tuple[int, ...] | None


@dataclass(frozen=True)
class FunctionRef:
    """A function named by an attribute, with the attributes that it is instantiated with."""

    name: str
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Placeholder:
    """An attribute inside a function body that takes the function's attribute ``name``."""

    name: str


_LARGE: Final = 1 << 14  # bytes
_WORTH_STORING: Final = 1 << 16  # bytes: what is smaller is read as quickly as it is asked for


def _copied(array: np.ndarray[Any, Any], boundary: int) -> np.ndarray[Any, Any]:
    room = np.empty(array.nbytes + boundary, np.uint8)
    first = -room.ctypes.data % boundary
    out: np.ndarray[Any, Any] = room[first : first + array.nbytes].view(array.dtype)
    out = out.reshape(array.shape)
    copy_in_pieces(out, array)
    return out


class TensorAttr:
    """A tensor held by an attribute; the array is decoded when first asked for, then kept.

    ``array`` is whatever NumPy makes an array of.
    ``content`` replaces ``tensor_content`` for tensors that are read in place from a file.
    """

    __slots__ = ("_array", "_proto", "_stored", "content")

    def __init__(
        self,
        proto: TensorProto | None = None,
        *,
        array: Any = None,
        content: memoryview | None = None,
    ) -> None:
        self._proto = proto
        if array is not None and not isinstance(array, np.ndarray):
            array = np.asarray(array)  # a scalar of NumPy's is no array to the host
        if array is not None and array.dtype.kind in "SUT":
            array = as_strings(array)
        self._array = None if array is None else read_only(array)
        self.content = content
        self._stored: Any = None

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The tensor's value, read-only; it may point into a file."""
        if self._array is None:
            assert self._proto is not None
            self._array = from_proto(self._proto, self.content)
        return self._array

    def aligned(self, boundary: int = 1) -> np.ndarray[Any, Any]:
        """The value for arithmetic: copied once if its address or its layout does not suit.

        NumPy would copy such an operand in every call. Large ones then begin at a multiple of
        ``boundary``, of bytes. What is copied from a file need not stay in memory twice. Raises
        ``OutOfTime`` between pieces.
        """
        array = self.array
        large = array.nbytes >= _LARGE and not array.dtype.hasobject
        is_one_element = not any(array.strides)  # seen many times: there is nothing to copy
        is_laid_out = array.flags.c_contiguous and array.ctypes.data % boundary == 0
        fits = not large or boundary == 1 or is_one_element or is_laid_out
        if array.flags.aligned and fits:
            return array
        self._array = _copied(array, boundary) if large else array.copy()
        self._array.flags.writeable = False
        if large:
            let_go(array)
        return self._array

    @property
    def place(self) -> Place | None:
        """Where a large value lies in a local file; None for any other value."""
        array = self.array
        return place_of(array) if array.nbytes >= _WORTH_STORING else None

    def stored(self, make: Callable[[Place, Sequence[int]], Any]) -> Any:
        """What ``make(place, dims)`` gives for a large value in a local file.

        It is kept; None for any other value. No memory is taken by the value then.
        """
        if self._stored is None and (place := self.place) is not None:
            self._stored = make(place, self.shape)
            self._let_go()
        return self._stored

    def _let_go(self) -> None:
        """Take what a file has of the value out of memory, until it is asked for."""
        let_go(self.array)

    @property
    def dtype(self) -> DType:
        """The tensor's type, without decoding the value."""
        if self._proto is not None:
            return from_number(self._proto.dtype)
        from drystone_base.core.dtypes import from_numpy

        assert self._array is not None
        return from_numpy(self._array.dtype)

    def is_of(self, dtype: DType) -> bool:
        """Whether the tensor is of that type; in memory, quantized ones are plain integers."""
        own = self.dtype
        return own is dtype or (self._proto is None and own.np == dtype.np)

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape, without decoding the value."""
        if self._array is not None:
            return tuple(self._array.shape)
        assert self._proto is not None
        return tuple(int(d.size) for d in self._proto.tensor_shape.dim)

    @property
    def nbytes(self) -> int:
        """Bytes of the value's elements, without decoding it; of objects, those of pointers."""
        return math.prod(self.shape) * self.dtype.np.itemsize

    def ends(self, count: int) -> bytes:
        """The first and the last ``count`` elements of a value of numbers, without the others."""
        array = self.array
        flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
        return bytes(flat[:count].tobytes() + flat[-count:].tobytes())

    @property
    def proto(self) -> TensorProto:
        """The tensor as a proto, its content included."""
        if self._proto is None:
            return to_proto(self.array)
        if self.content is None:
            return self._proto
        whole = TensorProto()
        whole.CopyFrom(self._proto)
        whole.tensor_content = bytes(self.content)
        return whole

    def __repr__(self) -> str:
        return f"TensorAttr({self.dtype}, {self.shape})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorAttr):
            return NotImplemented
        return self.proto.SerializeToString(deterministic=True) == other.proto.SerializeToString(
            deterministic=True
        )

    __hash__ = None  # type: ignore[assignment]


def decode_shape(proto: TensorShapeProto) -> Shape:
    """The shape in a proto: None for unknown rank, -1 for an unknown dimension.

    Raises ``GraphError`` (``bad-attr``) for a dimension below -1.
    """
    if proto.unknown_rank:
        return None
    dims = tuple([d.size for d in proto.dim])
    if dims and min(dims) < -1:
        raise GraphError(
            "a shape attribute has a negative dimension",
            check="dimensions must be -1 (unknown) or non-negative",
            found=list(dims),
            needed="-1 or more",
            remedy="the graph is corrupt: write it again",
            code="bad-attr",
        )
    return dims


def encode_shape(shape: Shape) -> TensorShapeProto:
    """The proto of a shape; symbols become -1."""
    if shape is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=max(d, -1)) for d in shape])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _decode_list(value: AttrValue.ListValue) -> list[Any]:
    ints = list(value.i)  # strides, paddings, axes: most lists that are not empty
    if ints:
        return ints
    if value.s:
        return [_text(s) for s in value.s]
    if value.type:
        return [from_number(t) for t in value.type]
    if value.shape:
        return [decode_shape(s) for s in value.shape]
    if value.tensor:
        return [TensorAttr(t) for t in value.tensor]
    if value.func:
        return [_decode_function(f) for f in value.func]
    return list(value.f) or list(value.b)


def _decode_function(value: NameAttrList) -> FunctionRef:
    return FunctionRef(value.name, {k: decode_attr(v) for k, v in sorted(value.attr.items())})


def decode_attr(value: AttrValue, content: memoryview | None = None) -> Any:
    """The Python value of an ``AttrValue``; None when the proto is empty.

    Strings become ``str`` (bytes that are not UTF-8 survive as surrogates), types ``DType``, shapes
    tuples, tensors ``TensorAttr``, functions ``FunctionRef``.
    """
    kind = value.WhichOneof("value")
    if kind == "type":  # most are
        return from_number(value.type)
    if kind is None:
        return None
    if kind == "s":
        return _text(value.s)
    if kind in ("i", "f", "b"):
        return getattr(value, kind)
    if kind == "shape":
        return decode_shape(value.shape)
    if kind == "tensor":
        return TensorAttr(value.tensor, content=content)
    if kind == "func":
        return _decode_function(value.func)
    if kind == "placeholder":
        return Placeholder(value.placeholder)
    return _decode_list(value.list)


@lru_cache
def _encoded_type(value: DType) -> AttrValue:
    """The value of most attributes that there are: it is not changed."""
    number: Any = value.number
    return AttrValue(type=number)


def _encode_scalar(value: Any, kind: str | None) -> dict[str, Any]:
    if isinstance(value, bool | np.bool_):
        return {"b": bool(value)}
    if isinstance(value, float | np.floating) or kind == "float":
        return {"f": float(value)}
    if isinstance(value, int | np.integer):
        return {"i": int(value)}
    if isinstance(value, str):
        return {"s": value.encode("utf-8", "surrogateescape")}
    if isinstance(value, bytes):
        return {"s": value}
    if isinstance(value, DType):
        return {"type": value.number}
    if value is None or isinstance(value, tuple):
        return {"shape": encode_shape(value)}
    if isinstance(value, TensorAttr):
        return {"tensor": value.proto}
    if isinstance(value, FunctionRef):
        return {
            "func": NameAttrList(
                name=value.name, attr={k: encode_attr(v) for k, v in value.attrs.items()}
            )
        }
    raise GraphError(
        f"a value of type {type(value).__name__} cannot be an attribute",
        check="attribute values must be int, float, bool, str, DType, shape, tensor or function",
        found=repr(value),
        remedy="turn it into one of these: `.tolist()` gives plain values of an array",
        code="bad-attr",
    )


def encode_attr(value: Any, kind: str | None = None) -> AttrValue:
    """The ``AttrValue`` of a Python value.

    ``kind`` is the op definition's attribute type (``"float"``, ``"list(int)"``): it settles what
    an int or an empty list means. Raises ``GraphError`` (``bad-attr``) for any other value.
    """
    if isinstance(value, Placeholder):
        return AttrValue(placeholder=value.name)
    if isinstance(value, np.ndarray):
        return AttrValue(tensor=to_proto(value))
    if value.__class__ is DType:
        return _encoded_type(value)
    if not isinstance(value, list):
        return AttrValue(**_encode_scalar(value, kind))
    inner = kind[5:-1] if kind and kind.startswith("list(") else None
    items = AttrValue.ListValue()
    for item in value:
        for name, encoded in _encode_scalar(item, inner).items():
            getattr(items, name).append(encoded)
    return AttrValue(list=items)
