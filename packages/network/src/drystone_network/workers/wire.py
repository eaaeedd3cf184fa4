"""What goes between processes: a document of JSON, and arrays.

A message is the length of the document (8 bytes), the document, and the bytes of its arrays, each
from a multiple of 64 on, so that they are read where they lie. Nothing in it is code: what cannot
be understood raises ``BadFrame``.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import DType, as_dtype, from_number, from_numpy
from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_base.core.tensor import string_array

__all__ = ["BadFrame", "array_of", "bytes_of", "pack", "packed", "unpack"]

Array = np.ndarray[Any, Any]
_ALIGNED: Final = 64
_BOOL: Final = as_dtype("bool")
_STRING: Final = as_dtype("string")
_MOST_DOCUMENT: Final = 64 << 20
_MOST_DIMENSIONS: Final = 64


class BadFrame(Exception):
    """What another process sent cannot be understood."""


def packed(document: dict[str, Any], arrays: Sequence[Array | None] = ()) -> list[Any]:
    """The pieces of a message: buffers, one after another; None stands for no value.

    Raises ``BadRequest`` (``cannot-send``) for a value that means nothing elsewhere: a resource.
    """
    pieces: list[Any] = []
    described: list[Any] = []
    for array in arrays:
        if array is None:
            described.append(None)
            continue
        number, shape, data = bytes_of(array)
        described.append([number, list(shape), len(data)])
        pieces += [data, b"\0" * (-len(data) % _ALIGNED)]
    text = json.dumps([document, described], separators=(",", ":")).encode()
    head = len(text).to_bytes(8, "little") + text
    return [head + b"\0" * (-len(head) % _ALIGNED), *(piece for piece in pieces if len(piece))]


def pack(document: dict[str, Any], arrays: Sequence[Array | None] = ()) -> bytes:
    """The same in one piece."""
    return b"".join(packed(document, arrays))


def bytes_of(array: Array) -> tuple[int, tuple[int, ...], Any]:
    """Number of the dtype, shape and bytes of an array; raises as :func:`packed` does."""
    dtype = from_numpy(array.dtype)
    if not dtype.is_object:
        flat = np.ascontiguousarray(array).reshape(-1)
        return dtype.number, array.shape, flat.view(np.uint8).data
    values = array.reshape(-1).tolist()
    if not all(isinstance(value, bytes) for value in values):
        raise BadRequest(
            "a value cannot be sent to another task",
            check="a value that goes to another task is numbers or strings",
            found=f"a tensor of {type(values[0]).__name__}",
            needed="numbers, or strings",
            remedy="have the nodes that make and use a resource or variant on one task",
            code="cannot-send",
        )
    lengths = np.array([len(value) for value in values], np.uint64)
    return _STRING.number, array.shape, lengths.tobytes() + b"".join(values)


def unpack(message: Any) -> tuple[dict[str, Any], list[Array | None]]:
    """Document and arrays of a message; arrays of numbers share its memory and are read-only."""
    whole = np.frombuffer(message, np.uint8)
    if whole.size < 8:
        raise BadFrame(f"a message of {whole.size} bytes")
    length = int.from_bytes(whole[:8].tobytes(), "little")
    if length > min(_MOST_DOCUMENT, whole.size - 8):
        raise BadFrame(f"a document of {length} bytes in a message of {whole.size}")
    try:
        document, described = json.loads(whole[8 : 8 + length].tobytes())
    except (ValueError, TypeError, RecursionError) as error:
        raise BadFrame("a document that is no JSON of ours") from error
    if not isinstance(document, dict) or not isinstance(described, list):
        raise BadFrame("a document that is no JSON of ours")
    at = 8 + length
    arrays: list[Array | None] = []
    for one in described:
        at += -at % _ALIGNED
        array, size = _array(whole, at, one)
        arrays.append(array)
        at += size
    return document, arrays


def _array(whole: Array, at: int, described: Any) -> tuple[Array | None, int]:
    if described is None:
        return None, 0
    dtype, dims, size = _description(described)
    data = whole[at : at + size]
    if data.size != size:
        raise BadFrame("an array that is cut off")
    return array_of(data, dtype, dims), size


def array_of(data: Array, dtype: DType, dims: tuple[int, ...]) -> Array:
    """The array whose bytes, as :func:`bytes_of` gives them, these are; raises ``BadFrame``."""
    count = math.prod(dims)
    if dtype == _STRING:
        return _strings(data, count, dims)
    if dtype.is_object:
        raise BadFrame(f"an array of {dtype}")
    if count * dtype.np.itemsize != data.size:
        raise BadFrame(f"an array of {data.size} bytes for {count} elements")
    if dtype == _BOOL and data.size and data.max() > 1:
        raise BadFrame("a bool that is neither true nor false")
    array = data.view(dtype.np).reshape(dims)
    array.flags.writeable = False
    return array


def _description(described: Any) -> tuple[DType, tuple[int, ...], int]:
    """Dtype, shape and bytes of an array, as a document states them."""
    try:
        number, shape, size = described
        dtype = from_number(number)
    except (ValueError, TypeError, KeyError, DrystoneError) as error:
        raise BadFrame("an array that is described wrongly") from error
    sizes = [*shape, size] if isinstance(shape, list) else [None]
    if len(sizes) > _MOST_DIMENSIONS or not all(type(d) is int and 0 <= d < 1 << 48 for d in sizes):
        raise BadFrame("an array that is described wrongly")
    return dtype, tuple(shape), size


def _strings(data: Array, count: int, dims: tuple[int, ...]) -> Array:
    if count * 8 > data.size:
        raise BadFrame("strings that are cut off")
    ends = np.cumsum(data[: count * 8].view(np.uint64).astype(np.float64))
    if count and ends[-1] != data.size - count * 8:
        raise BadFrame("strings whose lengths are wrong")
    rest = data[count * 8 :].tobytes()
    places = [0, *ends.astype(np.int64).tolist()]
    values: list[Any] = [rest[a:b] for a, b in itertools.pairwise(places)]
    return string_array(values, dims)
