"""Operations on the sets in the last dimension of tensors, dense or sparse."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from drystone_base.kernels._indices import bad_rows
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.sparse._sparse import check_elements, check_sparse, row_major_order

__all__: list[str] = []


class _Sets(NamedTuple):
    """Elements with the set of each: its place in the leading dimensions, counted row by row."""

    places: Array
    values: Array
    lead: tuple[int, ...]


def _dense(call: Call, x: Array) -> _Sets:
    call.require(
        x.ndim >= 1, "a tensor of sets must not be a scalar", found=[], needed="rank 1 or more"
    )
    lead = x.shape[:-1]
    places = np.arange(math.prod(lead) if x.size else 0)
    return _Sets(np.repeat(places, x.shape[-1]), x.reshape(-1), lead)


def _sparse(call: Call, indices: Array, values: Array, shape: Array) -> _Sets:
    check_sparse(call, indices, values, shape)
    check_elements(call, shape)
    call.require(shape.size >= 1, "a tensor of sets must have a rank", found=0, needed="1 or more")
    bad_rows(call, indices, shape.tolist())
    if call.attrs["validate_indices"]:
        call.require(
            (row_major_order(indices) == np.arange(len(indices))).all(),
            "indices must be in row-major order",
            found="another order",
            needed="rising index vectors",
            remedy="sort them with SparseReorder",
        )
        repeated = (indices[1:] == indices[:-1]).all(axis=1)
        call.require(
            not repeated.any(),
            "indices must not be repeated",
            found=indices[1:][repeated][:1].tolist(),
            needed="rising index vectors",
        )
    *lead, _ = shape.tolist()
    places = np.zeros(len(indices), np.int64)
    for k, size in enumerate(lead):
        places = places * size + indices[:, k]
    return _Sets(places, values, tuple(lead))


class _Distinct(NamedTuple):
    """Each element of each set once, in order, and whether it is in the first and in the second."""

    places: Array
    values: Array
    in_a: Array
    in_b: Array


def _distinct(a: _Sets, b: _Sets) -> _Distinct:
    """Both together: sorted by NumPy, which lets others run meanwhile."""
    known, codes = np.unique(np.concatenate([a.values, b.values]), return_inverse=True)
    places = np.concatenate([a.places, b.places])
    order = np.argsort(codes, kind="stable")  # lexsort would let no other thread run
    order = order[np.argsort(places[order], kind="stable")]
    places, codes = places[order], codes[order]
    begins = np.ones(len(order), bool)
    begins[1:] = (places[1:] != places[:-1]) | (codes[1:] != codes[:-1])
    number = begins.astype(np.intp).cumsum() - 1  # bools would keep the lock
    is_second = order >= len(a.places)
    in_a, in_b = (np.zeros(int(begins.sum()), bool) for _ in "ab")
    in_a[number[~is_second]] = True
    in_b[number[is_second]] = True
    return _Distinct(places[begins], known[codes[begins]], in_a, in_b)


def _within(places: Array) -> Array:
    """The number of each element in its set; ``places`` rise."""
    count = np.arange(len(places))
    begins = np.ones(len(places), bool)
    begins[1:] = places[1:] != places[:-1]
    return count - np.maximum.accumulate(np.where(begins, count, 0))


def _combine(call: Call, a: _Sets, b: _Sets) -> tuple[Array, Array, Array]:
    """The set operation by group: a sparse tensor with each set's elements in order."""
    call.require(
        a.lead == b.lead,
        "both tensors must have the same leading dimensions",
        found=f"{list(a.lead)} and {list(b.lead)}",
        needed="equal dimensions but for the last",
    )
    operations: dict[str, Any] = {
        "a-b": lambda x, y: x & ~y,
        "b-a": lambda x, y: y & ~x,
        "intersection": np.logical_and,
        "union": np.logical_or,
    }
    name = call.attrs["set_operation"]
    call.require(
        name in operations, "set_operation must be known", found=name, needed=", ".join(operations)
    )
    found = _distinct(a, b)
    kept = operations[name](found.in_a, found.in_b)
    places = found.places[kept]
    last = _within(places)
    rows = np.empty((len(places), len(a.lead) + 1), np.int64)
    rows[:, -1] = last
    left = places
    for k in reversed(range(len(a.lead))):
        left, rows[:, k] = np.divmod(left, max(a.lead[k], 1))
    largest = int(last.max()) + 1 if len(last) else 0
    return rows, found.values[kept], np.array([*a.lead, largest], np.int64)


@kernel("DenseToDenseSetOperation")
def dense_to_dense(call: Call, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The set operation on the last dimensions of two dense tensors."""
    return _combine(call, _dense(call, a), _dense(call, b))


@kernel("DenseToSparseSetOperation")
def dense_to_sparse(
    call: Call, a: Array, indices: Array, values: Array, shape: Array
) -> tuple[Array, Array, Array]:
    """The set operation on the last dimensions of a dense and a sparse tensor."""
    return _combine(call, _dense(call, a), _sparse(call, indices, values, shape))


@kernel("SparseToSparseSetOperation")
def sparse_to_sparse(call: Call, *args: Array) -> tuple[Array, Array, Array]:
    """The set operation on the last dimensions of two sparse tensors."""
    a, b = _sparse(call, *args[:3]), _sparse(call, *args[3:])
    return _combine(call, a, b)


@kernel("SetSize")
def set_size(call: Call, indices: Array, values: Array, shape: Array) -> Array:
    """The number of distinct elements in each set of a sparse tensor, int32."""
    sets = _sparse(call, indices, values, shape)
    out = np.zeros(check_size(call, sets.lead, np.dtype(np.int32)), np.int32)
    places = _distinct(sets, _Sets(sets.places[:0], sets.values[:0], sets.lead)).places
    np.add.at(out.reshape(-1), places, 1)
    return out
