"""Tensors on their way between a process and its isolated plugin: rows of facts, and their bytes.

A row is a dtype's number, a shape and a count of bytes. Strings are their lengths, 8 bytes each,
and then their bytes. What comes from the other side is checked before it becomes an array.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import STRING, DType, from_number
from drystone_base.core.errors import GraphError
from drystone_base.plugins.isolation_channel import BadMessage

__all__ = ["crosses", "packed", "unpacked"]

_MOST_DIMENSIONS: Final = 254
_LENGTH: Final = np.dtype("<u8")


def crosses(dtype: DType) -> bool:
    """Whether values of that type mean the same in another process."""
    return dtype is STRING or not (dtype.ref or dtype.is_object)


def packed(arrays: Iterable[Any], dtypes: Sequence[DType]) -> tuple[list[list[Any]], bytes]:
    """Rows and bytes of arrays of these dtypes."""
    rows, parts = [], []
    for array, dtype in zip(arrays, dtypes, strict=True):
        held = np.asarray(array, dtype.np)
        data = _strings(held) if dtype is STRING else held.tobytes()
        rows.append([dtype.number, list(held.shape), len(data)])
        parts.append(data)
    return rows, b"".join(parts)


def _strings(array: np.ndarray[Any, Any]) -> bytes:
    texts = [t.encode() if isinstance(t, str) else bytes(t) for t in array.ravel().tolist()]
    return np.fromiter(map(len, texts), _LENGTH, len(texts)).tobytes() + b"".join(texts)


def unpacked(rows: Any, data: bytes) -> list[np.ndarray[Any, Any]]:
    """The arrays of such rows and bytes; raises ``BadMessage`` where they are none."""
    if not isinstance(rows, list):
        raise BadMessage(f"tensors that are {type(rows).__name__}")
    found, at, view = [], 0, memoryview(data)
    for row in rows:
        dtype, shape, size = _facts(row)
        found.append(_array(dtype, shape, view[at : at + size], size))
        at += size
    if at != len(data):
        raise BadMessage(f"{len(data)} bytes for tensors of {at}")
    return found


def _facts(row: Any) -> tuple[DType, tuple[int, ...], int]:
    try:
        number, shape, size = row
        dtype = from_number(number)
        numbers = [size, *shape]
    except (TypeError, ValueError, GraphError) as error:
        raise BadMessage(f"a tensor described by {row!r}"[:200]) from error
    natural = all(type(n) is int and 0 <= n < 1 << 62 for n in numbers)
    if not natural or len(numbers) > _MOST_DIMENSIONS + 1 or not crosses(dtype):
        raise BadMessage(f"a tensor described by {row!r}"[:200])
    return dtype, tuple(shape), size


def _array(
    dtype: DType, shape: tuple[int, ...], data: memoryview, size: int
) -> np.ndarray[Any, Any]:
    count = math.prod(shape)
    width = _LENGTH.itemsize if dtype is STRING else dtype.np.itemsize
    fits = size >= count * width if dtype is STRING else size == count * width
    if len(data) != size or not fits:
        raise BadMessage(f"{len(data)} bytes for {dtype} of shape {shape}")
    if dtype is not STRING:
        from drystone_base.host.tensors import empty_aligned

        array = empty_aligned(shape, dtype.np)
        array[...] = np.frombuffer(data, dtype.np).reshape(shape)
        return array
    ends = np.cumsum(np.frombuffer(data, _LENGTH, count), dtype=np.uint64).tolist()
    texts, begin = bytes(data[count * width :]), 0
    if (ends[-1] if ends else 0) != len(texts) or ends != sorted(ends):
        raise BadMessage(f"{len(texts)} bytes for {count} strings of other lengths")
    array = np.empty(count, object)
    for k, end in enumerate(ends):
        array[k], begin = texts[begin:end], end
    return array.reshape(shape)
