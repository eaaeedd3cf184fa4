"""What the families of sparse ops share: checks, order, and dense forms."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call

__all__ = ["check_sparse", "find_rows", "group_rows", "row_major_order"]


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
