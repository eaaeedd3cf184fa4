"""What the families of sparse and ragged ops share: checks, order, groups."""

from __future__ import annotations

import operator
from itertools import accumulate

import numpy as np

from drystone_base.kernels._indices import check_below, is_rising
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call

__all__ = [
    "check_elements",
    "check_sparse",
    "check_splits",
    "fill_order",
    "find_rows",
    "group_rows",
    "repeated",
    "row_major_order",
]


def check_sparse(call: Call, indices: Array, values: Array, shape: Array, what: str = "") -> None:
    """Fail unless the three parts of a sparse tensor fit together: [n, r], [n] and [r]."""
    name = f"{what} " if what else ""
    call.require(
        indices.ndim == 2 and values.ndim == 1 and shape.ndim == 1,
        f"the {name}indices must be a matrix, values and shape vectors",
        found=f"{list(indices.shape)}, {list(values.shape)} and {list(shape.shape)}",
        needed="[n, rank], [n] and [rank]",
    )
    call.require(
        indices.shape == (values.size, shape.size),
        f"the {name}indices must hold one row for each value and one column for each dimension",
        found=list(indices.shape),
        needed=[values.size, shape.size],
    )
    call.require(
        not (shape < 0).any(), "dimensions must not be negative", found=shape.tolist(), needed="0+"
    )


def check_elements(call: Call, shape: Array) -> None:
    """Fail unless 64 bits hold the number of elements of a sparse tensor's shape.

    TensorFlow multiplies from the left: dimensions of 0 behind what is too much do not help.
    """
    call.require(
        all(count < 1 << 63 for count in accumulate(shape.tolist(), operator.mul)),
        "the number of elements must fit 64 bits",
        found=shape.tolist(),
    )


def row_major_order(indices: Array) -> Array:
    """The permutation that sorts index vectors [n, rank]; stable."""
    if not indices.shape[1]:
        return np.arange(len(indices))
    return np.lexsort(indices.T[::-1])


def group_rows(rows: Array) -> tuple[Array, Array]:
    """The distinct rows of a matrix in row-major order, and the class of each row."""
    if not rows.shape[1]:
        return rows[:1], np.zeros(len(rows), np.intp)
    groups, classes = np.unique(rows, axis=0, return_inverse=True)
    return groups, classes.reshape(-1)


def find_rows(table: Array, wanted: Array) -> Array:
    """For each wanted row its place in ``table``, or -1."""
    places = {tuple(row): k for k, row in enumerate(table.tolist())}
    return np.array([places.get(tuple(row), -1) for row in wanted.tolist()], np.intp)


def repeated(value: Array, count: int) -> Array:
    """A vector of ``count`` times a scalar, strings included."""
    out = np.empty(count, value.dtype)
    out[...] = value
    return out


def fill_order(call: Call, rows: Array, count: int) -> tuple[Array, Array, Array]:
    """How to give each of ``count`` rows an element.

    Returns which rows are empty; the permutation that sorts the elements, and after them one for
    each empty row, by row; and the place of each of the first elements in that order.
    """
    check_size(call, (count,), np.dtype(bool))
    check_below(call, rows, count, "row numbers")
    empty = np.bincount(rows, minlength=count)[:count] == 0
    order = np.argsort(np.concatenate([rows, np.flatnonzero(empty)]), kind="stable")
    places = np.empty(order.size, np.int64)
    places[order] = np.arange(order.size)
    return empty, order, places[: len(rows)]


def check_splits(call: Call, splits: Array, size: int) -> None:
    """Fail unless row splits rise from 0 to ``size``, the number of values."""
    call.require(
        splits.ndim == 1
        and splits.size
        and splits[0] == 0
        and splits[-1] == size
        and is_rising(splits),
        "row splits must rise from 0 to the number of values",
        found=splits.reshape(-1)[:10].tolist(),
        needed=f"0 ... {size}",
    )
