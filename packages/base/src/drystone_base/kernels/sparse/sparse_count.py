"""Ops that count the numbers in each row and give the counts as a sparse tensor."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from drystone_base.kernels._indices import bad_rows
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.sparse._sparse import check_sparse, check_splits

__all__: list[str] = []

_MOST_ROWS = (1 << 31) - 1


def _check_weights(call: Call, values: Array, weights: Array) -> None:
    call.require(
        not weights.size or weights.shape == values.shape,
        "weights must be empty or have the shape of the values",
        found=list(weights.shape),
        needed=list(values.shape),
    )
    call.require(
        not (values < 0).any(), "values must not be negative", found=values.min(initial=0), needed=0
    )


def _counted(
    call: Call, values: Array, weights: Array, rows: Iterable[int], height: int | None
) -> tuple[Array, Array, Array]:
    """Counts by row (None: one row that the result has no dimension for) and value, in order."""
    longest, binary = call.attrs["maxlength"], call.attrs["binary_output"]
    totals: dict[tuple[int, int], float] = {}
    ones = weights if weights.size else np.ones(values.size, weights.dtype)
    for row, value, weight in zip(rows, values.tolist(), ones.tolist(), strict=True):
        if longest < 0 or value < longest:
            totals[row, value] = 1 if binary else totals.get((row, value), 0) + weight
    places = sorted(totals)
    counts = np.array([totals[place] for place in places], weights.dtype)
    top = max((value for _, value in places), default=0) + 1
    width = longest if longest >= 0 else max(top, call.attrs["minlength"])
    indices = np.array(places, np.int64).reshape(len(places), 2)
    if height is None:
        return indices[:, 1:], counts, np.array([width], np.int64)
    return indices, counts, np.array([height, width], np.int64)


@kernel("DenseCountSparseOutput")
def dense_count(call: Call, values: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Counts of the values of a vector, or of each row of a matrix."""
    call.require(
        values.ndim in (1, 2), "values must be a vector or matrix", found=list(values.shape)
    )
    _check_weights(call, values, weights)
    height = len(values) if values.ndim == 2 else None
    rows = np.repeat(np.arange(height or 1), values.shape[-1])[: values.size].tolist()
    return _counted(call, values.reshape(-1), weights.reshape(-1), rows, height)


@kernel("SparseCountSparseOutput")
def sparse_count(
    call: Call, indices: Array, values: Array, shape: Array, weights: Array
) -> tuple[Array, Array, Array]:
    """Counts of the values of a sparse vector, or of each row of a sparse matrix."""
    check_sparse(call, indices, values, shape)
    _check_weights(call, values, weights)
    call.require(
        shape.size in (1, 2), "the tensor must be a vector or matrix", found=shape.tolist()
    )
    bad_rows(call, indices, shape.tolist())
    call.require(
        shape.size == 1 or shape[0] < _MOST_ROWS,
        "32 bits must hold the number of rows",
        found=shape.tolist(),
    )
    if shape.size == 1:
        return _counted(call, values, weights, [0] * values.size, None)
    return _counted(call, values, weights, indices[:, 0].tolist(), int(shape[0]))


@kernel("RaggedCountSparseOutput")
def ragged_count(
    call: Call, splits: Array, values: Array, weights: Array
) -> tuple[Array, Array, Array]:
    """Counts of the values of each row of a ragged matrix."""
    call.require(
        values.ndim == 1 and splits.size > 1,
        "values must be a vector, in one row or more",
        found=f"{list(values.shape)}, splits {list(splits.shape)}",
        needed="rank 1, two splits or more",
    )
    check_splits(call, splits, values.size)
    _check_weights(call, values, weights)
    rows = np.repeat(np.arange(splits.size - 1), np.diff(splits)).tolist()
    return _counted(call, values, weights, rows, splits.size - 1)
