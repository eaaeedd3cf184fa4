"""Operations on the sets in the last dimension of tensors, dense or sparse."""

from __future__ import annotations

import itertools
from typing import Any, TypeAlias

import numpy as np

from drystone_base.kernels._indices import bad_rows
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.sparse._sparse import check_elements, check_sparse, row_major_order

__all__: list[str] = []

Groups: TypeAlias = dict[tuple[int, ...], set[Any]]
"""The elements of each set by its place in the leading dimensions."""


def _dense(call: Call, x: Array) -> tuple[Groups, tuple[int, ...]]:
    call.require(
        x.ndim >= 1, "a tensor of sets must not be a scalar", found=[], needed="rank 1 or more"
    )
    lead = x.shape[:-1]
    places = itertools.product(*map(range, lead if x.size else (0,)))  # they may be very many
    return {place: set(x[place].tolist()) for place in places}, lead


def _sparse(
    call: Call, indices: Array, values: Array, shape: Array
) -> tuple[Groups, tuple[int, ...]]:
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
    groups: Groups = {}
    for row, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        groups.setdefault(tuple(row), set()).add(value)
    return groups, tuple(shape.tolist()[:-1])


def _combine(
    call: Call, a: tuple[Groups, tuple[int, ...]], b: tuple[Groups, tuple[int, ...]], like: Array
) -> tuple[Array, Array, Array]:
    """The set operation by group: a sparse tensor with each set's elements in order."""
    call.require(
        a[1] == b[1],
        "both tensors must have the same leading dimensions",
        found=f"{list(a[1])} and {list(b[1])}",
        needed="equal dimensions but for the last",
    )
    operations = {
        "a-b": set.difference,
        "b-a": lambda x, y: y - x,
        "intersection": set.intersection,
        "union": set.union,
    }
    name = call.attrs["set_operation"]
    call.require(
        name in operations, "set_operation must be known", found=name, needed=", ".join(operations)
    )
    rows: list[tuple[int, ...]] = []
    values: list[Any] = []
    largest = 0
    for place in sorted(a[0].keys() | b[0].keys()):
        found = sorted(operations[name](a[0].get(place, set()), b[0].get(place, set())))
        largest = max(largest, len(found))
        rows += [(*place, k) for k in range(len(found))]
        values += found
    out = np.empty(len(values), like.dtype)
    out[:] = values
    return (
        np.array(rows, np.int64).reshape(len(rows), len(a[1]) + 1),
        out,
        np.array([*a[1], largest], np.int64),
    )


@kernel("DenseToDenseSetOperation")
def dense_to_dense(call: Call, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The set operation on the last dimensions of two dense tensors."""
    return _combine(call, _dense(call, a), _dense(call, b), a)


@kernel("DenseToSparseSetOperation")
def dense_to_sparse(
    call: Call, a: Array, indices: Array, values: Array, shape: Array
) -> tuple[Array, Array, Array]:
    """The set operation on the last dimensions of a dense and a sparse tensor."""
    return _combine(call, _dense(call, a), _sparse(call, indices, values, shape), a)


@kernel("SparseToSparseSetOperation")
def sparse_to_sparse(call: Call, *args: Array) -> tuple[Array, Array, Array]:
    """The set operation on the last dimensions of two sparse tensors."""
    a, b = _sparse(call, *args[:3]), _sparse(call, *args[3:])
    return _combine(call, a, b, args[1])


@kernel("SetSize")
def set_size(call: Call, indices: Array, values: Array, shape: Array) -> Array:
    """The number of distinct elements in each set of a sparse tensor, int32."""
    groups, lead = _sparse(call, indices, values, shape)
    out = np.zeros(check_size(call, lead, np.dtype(np.int32)), np.int32)
    for place, elements in groups.items():
        out[place] = len(elements)
    return out
