"""``TensorProto`` and NumPy arrays, both ways, without a copy where the bytes allow it."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType, from_number, from_numpy
from drystone_base.core.errors import BadModelFile, GraphError
from drystone_base.core.time_limits import look
from drystone_base.core.wire import read_varint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drystone_abi.protos import TensorProto

__all__ = [
    "MAX_EXPANSION",
    "as_array",
    "as_strings",
    "copy_in_pieces",
    "from_proto",
    "read_only",
    "string_array",
    "to_proto",
]

# A few bytes of proto may name a huge tensor ("one value, repeated"). Above this many elements such
# a tensor is kept as a broadcast view of its last value instead of being written out.
MAX_EXPANSION: Final = 1 << 20
_MOST_DIMENSIONS: Final = 64
"""Of NumPy's arrays."""
_MOST_ELEMENTS: Final = 1 << 48
_PIECE: Final = 1 << 16  # elements put into an array in one go: no other thread runs meanwhile
_PIECE_BYTES: Final = 1 << 23

_FIELD: Final[dict[DType, str]] = {
    dtypes.FLOAT32: "float_val",
    dtypes.FLOAT64: "double_val",
    dtypes.INT64: "int64_val",
    dtypes.UINT32: "uint32_val",
    dtypes.UINT64: "uint64_val",
    dtypes.BOOL: "bool_val",
    dtypes.STRING: "string_val",
    dtypes.COMPLEX64: "scomplex_val",
    dtypes.COMPLEX128: "dcomplex_val",
    dtypes.FLOAT16: "half_val",
    dtypes.BFLOAT16: "half_val",
}
_FLOAT8: Final = frozenset(d for d in map(from_number, range(24, 29)))


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same values in an array that refuses to be written; no copy."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def copy_in_pieces(out: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> None:
    """Copy an array of any layout to one of its shape; raises ``OutOfTime`` between pieces."""
    if array.nbytes <= _PIECE_BYTES:
        np.copyto(out, array)
        return
    rows = _PIECE_BYTES * len(array) // array.nbytes
    for k in range(0, len(array), max(rows, 1)):
        look()
        if rows:
            np.copyto(out[k : k + rows], array[k : k + rows])
        else:
            copy_in_pieces(out[k], array[k])


def string_array(values: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An object array of ``shape`` that holds ``values`` (bytes) in row-major order."""
    return _array_of(values, np.dtype(object)).reshape(shape)


def _array_of(values: Sequence[Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A vector of what a list or a field of a proto holds; raises ``OutOfTime`` between pieces."""
    out = np.empty(len(values), dtype)
    for k in range(0, len(values), _PIECE):
        look()
        out[k : k + _PIECE] = values[k : k + _PIECE]
    return out


def as_strings(value: Any) -> np.ndarray[Any, Any]:
    """Text and bytes, alone, in nested lists or in an array of any kind, as an array of bytes.

    They are never brought to one width, as NumPy's own arrays of them are, which also end at the
    last byte that is not NUL. Text becomes UTF-8. Raises ``TypeError`` for what is neither, in
    words for a user, and ``OutOfTime``.
    """
    given = value if isinstance(value, np.ndarray) else np.array(_whole(value), dtype=object)
    flat = given.ravel()
    out = np.empty(flat.size, dtype=object)
    for k in range(0, flat.size, _PIECE):
        look()
        out[k : k + _PIECE] = [_encoded(v) for v in flat[k : k + _PIECE].tolist()]
    return out.reshape(given.shape)


def _whole(value: Any, depth: int = 0) -> Any:
    """The value, with bytes that can be changed or viewed as such: NumPy would take them apart."""
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if not isinstance(value, list | tuple) or depth == _MOST_DIMENSIONS:
        return value
    known = isinstance(value[0], str | bytes) if value else True
    if known and not any(isinstance(one, bytearray | memoryview) for one in value):
        return value
    return [_whole(one, depth + 1) for one in value]


def _encoded(value: object) -> bytes:
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise TypeError(f"text with half a surrogate pair: {error}") from error
    if isinstance(value, list | tuple):
        raise TypeError("nested lists of unequal length")
    raise TypeError(f"{type(value).__name__} {value!r:.40}")


def as_array(value: Any) -> np.ndarray[Any, Any]:
    """An array of what a kernel gave: NumPy hands out the items of arrays without dimensions."""
    if isinstance(value, bytes):
        return string_array([value], ())
    return np.asarray(value)


def _bad(what: str, found: object, needed: object) -> GraphError:
    return GraphError(
        what,
        check="a tensor's values must fit its dtype and shape",
        found=found,
        needed=needed,
        remedy="the file is corrupt: export the model again",
        code="bad-tensor",
    )


def _shape(proto: TensorProto) -> tuple[int, ...]:
    shape = tuple([d.size for d in proto.tensor_shape.dim])
    if (shape and min(shape) < 0) or proto.tensor_shape.unknown_rank:
        raise _bad("a constant tensor has no full shape", list(shape), "non-negative dimensions")
    if len(shape) > _MOST_DIMENSIONS:
        raise _bad("a constant tensor has a rank that no array has", len(shape), _MOST_DIMENSIONS)
    # NumPy counts without the dimensions of 0: there are tensors of nothing that it cannot hold.
    if math.prod(d for d in shape if d) >= _MOST_ELEMENTS:
        needed = "fewer than 2^48 elements, were dimensions of 0 left out"
        raise _bad("a constant tensor is absurdly large", list(shape), needed)
    return shape


def _typed_values(proto: TensorProto, dtype: DType) -> np.ndarray[Any, Any]:
    """The flat values of the typed field for ``dtype``."""
    if dtype in _FLOAT8:
        return np.frombuffer(proto.float8_val, np.uint8).view(dtype.np)
    name = _FIELD.get(dtype, "int_val")
    values = getattr(proto, name)
    if dtype is dtypes.STRING:
        return string_array(values, (len(values),))
    if name == "half_val":
        bits = _array_of(values, np.dtype(np.int64)).astype(np.uint16)  # of any int32, the lower
        return bits.view(dtype.np)
    if name in ("scomplex_val", "dcomplex_val"):
        part = np.dtype(np.float32 if name == "scomplex_val" else np.float64)
        if len(values) % 2:
            raise _bad("a complex tensor has half a number", len(values), "an even count")
        return _array_of(values, part).view(dtype.np)
    if dtype.is_floating or name != "int_val":
        return _array_of(values, dtype.np)
    return _array_of(values, np.dtype(np.int64)).astype(dtype.np)


def _from_content(
    content: memoryview, dtype: DType, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    if dtype is dtypes.STRING:
        return string_array(_texts_of(content, math.prod(shape)), shape)
    needed = math.prod(shape) * dtype.np.itemsize
    if len(content) != needed:
        raise _bad(
            f"a constant tensor of {dtype} {list(shape)} holds the wrong number of bytes",
            len(content),
            needed,
        )
    if dtype is dtypes.BOOL:
        _check_bools(np.frombuffer(content, np.uint8))
    return np.frombuffer(content, dtype.np).reshape(shape)


def _check_bools(values: np.ndarray[Any, Any]) -> None:
    """Fail unless each byte is 0 or 1; raises ``OutOfTime`` between pieces."""
    for k in range(0, len(values), _PIECE_BYTES):
        look()
        if (worst := int(values[k : k + _PIECE_BYTES].max())) > 1:
            raise _bad("a constant tensor of bool holds bytes that are neither", worst, "0 or 1")


def _texts_of(content: memoryview, count: int) -> list[bytes]:
    """Strings as TensorFlow's C API lays them out: the lengths of all, as varints, then the bytes.

    Source: TensorFlow's ``EncodeStringList``.
    """
    lengths: list[int] = []
    end = 0
    try:
        for k in range(count):
            if not k % _PIECE:
                look()
            length, end = read_varint(content, end)
            lengths.append(length)
    except BadModelFile:  # also of an absurd count: each length is a byte at least
        raise _bad(
            "a constant tensor of strings ends in their lengths", len(lengths), f"{count} lengths"
        ) from None
    ends = list(itertools.accumulate(lengths, initial=end))
    if ends[-1] != len(content):
        what = "the strings of a constant tensor must fill its content"
        raise _bad(what, f"{len(content)} bytes", f"{ends[-1]} bytes")
    data = bytes(content)
    return [data[a:b] for a, b in itertools.pairwise(ends)]


def _expand(
    values: np.ndarray[Any, Any], dtype: DType, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """Values repeated to ``shape`` by TensorFlow's rule: the last one given fills the rest."""
    count = math.prod(shape)
    if len(values) == count:
        return values.reshape(shape)
    if len(values) > count:
        raise _bad("a constant tensor has too many values", len(values), count)
    if len(values) <= 1:
        default: Any = b"" if dtype is dtypes.STRING else 0
        fill = values[:1] if len(values) else np.full(1, default, dtype.np)
        view = np.broadcast_to(fill.reshape((1,) * len(shape)), shape)
        return view if count > MAX_EXPANSION else view.copy()
    if count > 64 * MAX_EXPANSION:
        raise _bad("a constant tensor names more values than it holds", len(values), count)
    out = np.empty(count, dtype.np)
    out[: len(values)] = values
    out[len(values) :] = values[-1]
    return out.reshape(shape)


def from_proto(proto: TensorProto, content: memoryview | None = None) -> np.ndarray[Any, Any]:
    """The array that a ``TensorProto`` holds, read-only; it may share the file's bytes.

    ``content`` stands for ``proto.tensor_content`` when the bytes were left in the file. Raises
    ``GraphError`` (``bad-tensor``, ``bad-dtype``) for values that do not fit.
    """
    dtype = from_number(proto.dtype).base if proto.dtype else None
    if dtype is None or dtype in (dtypes.RESOURCE, dtypes.VARIANT):
        raise _bad("a constant tensor has no plain dtype", dtype or "DT_INVALID", "a value type")
    shape = _shape(proto)
    raw = proto.tensor_content if content is None else content  # each time it is asked for a copy
    if content is not None or raw:
        return read_only(_from_content(memoryview(raw), dtype, shape))
    return read_only(_expand(_typed_values(proto, dtype), dtype, shape))


def typed_field(array: np.ndarray[Any, Any], dtype: DType) -> tuple[str, list[Any]] | None:
    """The ``TensorProto`` field that holds values of ``dtype`` one by one, and the values.

    None where values of the dtype have no field of one number each.
    """
    name = _FIELD.get(dtype, "int_val")
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype in _FLOAT8 or (dtype.is_object and dtype is not dtypes.STRING):
        return None
    if name == "half_val":
        flat = flat.view(np.uint16)
    elif dtype.label.startswith("complex"):
        flat = flat.view(np.float32 if name == "scomplex_val" else np.float64)
    return name, flat.tolist()


def to_proto(array: np.ndarray[Any, Any], stated: DType | None = None) -> TensorProto:
    """The ``TensorProto`` of an array; raises ``GraphError`` (``bad-tensor``) for other objects.

    ``stated``: its dtype, which of quantized ones NumPy does not tell.
    """
    from drystone_abi.protos import TensorProto, TensorShapeProto

    dtype = stated or from_numpy(array.dtype)
    proto = TensorProto(
        dtype=dtype.number,  # type: ignore[arg-type]
        tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in array.shape]),
    )
    if dtype is dtypes.STRING:
        try:
            proto.string_val.extend(as_strings(array).ravel().tolist())
        except TypeError as error:
            raise _bad("a constant tensor holds no strings", error, "text or bytes") from error
        return proto
    proto.tensor_content = np.ascontiguousarray(array, dtype.np).tobytes()
    return proto
