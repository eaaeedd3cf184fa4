"""Constants of a plan beside it: in the cache's file, or still in the model's file."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core.dtypes import STRING, from_number
from drystone_base.core.tensor import read_only, string_array
from drystone_base.files.mapped import MappedFile, Place

if TYPE_CHECKING:
    from drystone_base.ops.attrs import TensorAttr

__all__ = ["Places", "read_constants"]

BOUNDARY: Final = 64  # bytes: tensors of the host begin at multiples
_LARGE: Final = 1 << 16  # bytes: such constants stay in their file until they are read
_HERE: Final = 0
_IN_MODEL: Final = 1


class Places:
    """Where constants are written, one after another, each at a multiple of 64 bytes."""

    def __init__(self, model: memoryview) -> None:
        self._model = model.obj
        self.rows: list[tuple[Any, ...]] = []
        """Of each constant: number of its dtype, dims, which file, first byte there.

        Where what the model's file has is multiplied, these follow: where its factors begin in the
        cache's file, how many they are, and for how many elements in a row each is.
        """
        self.parts: list[bytes | memoryview] = []
        self.size = 0

    def add(self, value: TensorAttr, dtype: int) -> bool:
        """Take in a constant; False for one that cannot be cached."""
        if value.dtype.number != dtype:
            return False
        if value.dtype.is_object:
            return self._add_strings(value.array, dtype)
        place = value.place
        if place is not None and place.file is self._model:
            self._add_place(value, dtype, place)
            return True
        self.rows.append((dtype, value.shape, _HERE, self.size))
        self._append(_bytes(value.array))
        return True

    def _add_place(self, value: TensorAttr, dtype: int, place: Place) -> None:
        row = (dtype, value.shape, _IN_MODEL, place.offset)
        if place.factors is None:
            self.rows.append(row)
            return
        self.rows.append((*row, self.size, len(place.factors), place.inner))
        self._append(_bytes(place.factors))

    def _add_strings(self, array: np.ndarray[Any, Any], dtype: int) -> bool:
        """Their lengths, int64, then the strings."""
        values = array.ravel().tolist()
        if dtype != STRING.number or not all(type(value) is bytes for value in values):
            return False
        self.rows.append((dtype, array.shape, _HERE, self.size))
        self._append(b"".join([np.array([*map(len, values)], np.int64).tobytes(), *values]))
        return True

    def _append(self, data: bytes | memoryview) -> None:
        padding = bytes(-len(data) % BOUNDARY)
        self.parts += [data, padding]
        self.size += len(data) + len(padding)


def read_constants(
    rows: Iterable[Sequence[Any]], kept: memoryview, model: memoryview
) -> list[tuple[Any, int]]:
    """Constants as a plan of the host takes them: arrays, or tensors that stay in files.

    ``kept``: the cache's file from where constants begin. Raises ``ValueError``, ``TypeError``
    and ``DrystoneError`` for rows that do not fit the files.
    """
    from drystone_base.files.stored_tensors import stored_tensor

    found: list[tuple[Any, int]] = []
    small = _Small(kept)
    for number, dims, where, first, *factors in rows:
        dtype = from_number(number).np
        size = math.prod(dims) * dtype.itemsize
        data = model if where == _IN_MODEL else kept
        if first < 0 or min(dims, default=0) < 0 or first + size > len(data):
            raise ValueError("a constant lies outside of its file")
        if dtype.hasobject:
            found.append((_strings(kept[first:], dims), number))
            continue
        if size < _LARGE:
            found.append((small.array(first, size).view(dtype).reshape(dims), number))
            continue
        owner = data.obj
        assert isinstance(owner, MappedFile)
        place = Place(owner, first + len(owner) - len(data), *_factors(kept, *factors))
        found.append((stored_tensor(place, number, dims), number))
    return found


def _factors(
    kept: memoryview, first: int = 0, count: int = 0, inner: int = 1
) -> tuple[np.ndarray[Any, np.dtype[np.float32]] | None, int]:
    """Factors of a place, and for how many elements in a row each is."""
    if not count:
        return None, 1
    if first < 0 or count < 0 or first + 4 * count > len(kept):
        raise ValueError("factors lie outside of their file")
    return np.frombuffer(kept, np.float32, count, first), inner


def _bytes(array: np.ndarray[Any, Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _strings(data: memoryview, dims: Sequence[int]) -> np.ndarray[Any, Any]:
    count = math.prod(dims)
    ends = np.cumsum(np.frombuffer(data, np.int64, count)) + 8 * count
    begins = [8 * count, *ends.tolist()]
    if count and (min(np.diff(begins)) < 0 or begins[-1] > len(data)):
        raise ValueError("a string lies outside of its file")
    values = [bytes(data[a:b]) for a, b in itertools.pairwise(begins)]
    return read_only(string_array(values, tuple(dims)))


class _Small:
    """Small constants, copied from a file to memory, each at a multiple of 64 bytes."""

    _ROOM: Final = 1 << 20

    def __init__(self, data: memoryview) -> None:
        self._data = np.frombuffer(data, np.uint8)
        self._room = np.empty(0, np.uint8)
        self._used = 0

    def array(self, first: int, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """A copy of bytes of the file, read-only."""
        if self._used + size > len(self._room):
            room = np.empty(self._ROOM + BOUNDARY, np.uint8)
            begin = -room.ctypes.data % BOUNDARY
            self._room, self._used = room[begin : begin + self._ROOM], 0
        out = self._room[self._used : self._used + size]
        self._used += size + -size % BOUNDARY
        out[:] = self._data[first : first + size]
        out.flags.writeable = False
        return out
