"""Sparse tensors kept in the session and passed as handles."""

from __future__ import annotations

import itertools
import threading
from typing import Final, NamedTuple

import numpy as np

from drystone_base.kernels._handles import shared_object
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.sparse._sparse import check_sparse

_KIND: Final = "map of sparse tensors"


class Sparse(NamedTuple):
    """A sparse tensor: indices [n, rank], values [n], shape [rank]."""

    indices: Array
    values: Array
    shape: Array


def _checked(call: Call, indices: Array, values: Array, shape: Array) -> Sparse:
    ranks = indices.ndim, values.ndim, shape.ndim
    call.require(
        ranks == (2, 1, 1),
        "the indices must be a matrix, values and shape vectors",
        found=f"ranks {ranks}",
        needed="ranks 2, 1 and 1",
    )
    return Sparse(indices, values, shape)


def _rows(call: Call, whole: Sparse) -> list[Sparse]:
    """The parts of a batch: one for each index of the first dimension."""
    check_sparse(call, *whole)
    call.require(
        whole.shape.size > 1,
        "a batch of sparse tensors must have a rank of 2 or more",
        found=whole.shape.size,
        needed="2 or more",
    )
    _check_order(call, whole)
    first = whole.indices[:, 0]
    count = int(whole.shape[0])
    bounds = np.searchsorted(first, np.arange(count + 1)).tolist()
    return [
        Sparse(whole.indices[low:high, 1:], whole.values[low:high], whole.shape[1:])
        for low, high in itertools.pairwise(bounds)
    ]


def _check_order(call: Call, whole: Sparse) -> None:
    indices = whole.indices
    inside = (indices >= 0).all() and (indices < whole.shape).all()
    steps = np.diff(indices, axis=0)
    leading = np.take_along_axis(steps, (steps != 0).argmax(1)[:, None], 1) if steps.size else steps
    call.require(
        inside and (leading > 0).all(),
        "indices must lie in the shape, in ascending order",
        found=indices[:8].tolist(),
        needed=f"in {whole.shape.tolist()}",
    )


def _joined(call: Call, parts: list[Sparse], lead: tuple[int, ...]) -> list[Array]:
    """The parts along new first dimensions of shape ``lead``; each dimension is the largest."""
    ranks = {part.shape.size for part in parts}
    call.require(
        len(ranks) == 1, "sparse tensors must have one rank", found=sorted(ranks), needed="one"
    )
    places = np.stack(np.unravel_index(np.arange(len(parts)), lead), 1)
    indices = [
        np.concatenate([np.repeat(place[None], len(part.indices), 0), part.indices], 1)
        for place, part in zip(places, parts, strict=True)
    ]
    shape = np.max([part.shape for part in parts], axis=0)
    return [
        np.concatenate(indices),
        np.concatenate([part.values for part in parts]),
        np.concatenate([np.array(lead, np.int64), shape]),
    ]


class SparseMap:
    """Sparse tensors by number, each to be taken once. Safe to use from several threads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._items: dict[int, Sparse] = {}
        self._next = itertools.count()
        self._lock = threading.Lock()

    def add(self, item: Sparse) -> int:
        """Keep a tensor; its number."""
        with self._lock:
            number = next(self._next)
            self._items[number] = item
            return number

    def take(self, call: Call, number: int) -> Sparse:
        """The tensor of a number, which is forgotten."""
        with self._lock:
            found = self._items.pop(number, None)
            if found is None:
                call.fail(
                    "a handle must stand for a sparse tensor that was not taken",
                    found=f"{number} in {self.name!r}",
                    needed=sorted(self._items)[:8],
                )
            return found


def _map(call: Call) -> SparseMap:
    return shared_object(call, _KIND, SparseMap)[1]


@kernel("AddSparseToTensorsMap")
def add_sparse(call: Call, indices: Array, values: Array, shape: Array) -> Array:
    """Keep a sparse tensor; its handle."""
    item = _checked(call, indices, values, shape)
    check_sparse(call, *item)
    return np.array(_map(call).add(item), np.int64)


@kernel("AddManySparseToTensorsMap")
def add_many_sparse(call: Call, indices: Array, values: Array, shape: Array) -> Array:
    """Keep a sparse tensor for each index of the first dimension; their handles.

    Empty ones get the last numbers, as in TensorFlow.
    """
    rows, found = _rows(call, _checked(call, indices, values, shape)), _map(call)
    handles = np.empty(len(rows), np.int64)
    for k in sorted(range(len(rows)), key=lambda k: not rows[k].values.size):
        handles[k] = found.add(rows[k])
    return handles


@kernel("TakeManySparseFromTensorsMap")
def take_many_sparse(call: Call, handles: Array) -> list[Array]:
    """The sparse tensors of handles along a new first dimension; they are forgotten."""
    call.require(
        handles.ndim == 1 and handles.size,
        "handles must be a vector",
        found=list(handles.shape),
        needed="rank 1, not empty",
    )
    call.require(
        call.attrs["shared_name"],
        "the map must have a name",
        found="no shared_name",
        needed="that of the op which keeps the tensors",
    )
    found = _map(call)
    parts = [found.take(call, number) for number in handles.tolist()]
    dtype = call.attrs["dtype"]
    call.require(
        all(part.values.dtype == dtype.np for part in parts),
        "the values must have the dtype that is asked for",
        found=[part.values.dtype for part in parts[:8]],
        needed=dtype,
    )
    return _joined(call, parts, (len(parts),))
