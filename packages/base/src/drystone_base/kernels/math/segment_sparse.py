"""Reductions over segments of gathered rows, and their gradients.

Source: TensorFlow ops of the same names. float16 and bfloat16 accumulate in float32.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.kernels._indices import check_below
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.math._segments import fold_rows, segment_sizes
from drystone_base.kernels.math.segment import check_sorted, segment_count


def _scale(call: Call, ids: Array, count: int) -> Array | None:
    """What each segment's total is divided by (int64 or float64), or None for plain sums."""
    sizes = np.maximum(segment_sizes(ids, count), 1)
    if "Mean" in call.op:
        return sizes
    return np.sqrt(sizes) if "SqrtN" in call.op else None


def _column(scale: Array, like: Array) -> Array:
    return scale.astype(like.dtype).reshape(-1, *([1] * (like.ndim - 1)))


@kernel(
    "SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN",
    "SparseSegmentSumWithNumSegments", "SparseSegmentMeanWithNumSegments",
    "SparseSegmentSqrtNWithNumSegments",
)  # fmt: skip
@quiet
def sparse_segments(
    call: Call, data: Array, indices: Array, ids: Array, *num_segments: Array
) -> Array:
    """Rows ``data[indices]`` summed by segment id: [segments, ...]; 0 for segments without rows.

    Mean divides by the number of rows, SqrtN by its square root. Ids must not decrease.
    """
    call.require(data.ndim > 0, "the data must have rows", found="a scalar")
    call.require(indices.ndim == 1, "indices must be a vector", found=list(indices.shape))
    check_sorted(call, ids, indices.size)
    if num_segments:
        call.require(
            num_segments[0].ndim == 0,
            "num_segments must be a scalar",
            found=list(num_segments[0].shape),
        )
        count = segment_count(call, num_segments[0], ids)
    else:
        count = int(ids[-1]) + 1 if ids.size else 0
    check_below(call, indices, data.shape[0])
    check_size(call, (count, *data.shape[1:]), data.dtype)
    out = fold_rows(np.add, widen(data[indices]), ids, count, 0)
    scale = _scale(call, ids, count)
    if scale is not None:
        out = out / _column(scale, out)
    return out.astype(data.dtype, copy=False)


_GRADIENTS: Final = (
    "SparseSegmentSumGrad", "SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad",
)  # fmt: skip
_GRADIENTS_V2: Final = tuple(f"{name}V2" for name in _GRADIENTS)


def _spread(call: Call, grad: Array, indices: Array, ids: Array, dim: Array) -> tuple[Array, int]:
    """The scaled gradient row of each gathered row, and the dense row count."""
    call.require(indices.ndim == 1, "indices must be a vector", found=list(indices.shape))
    call.require(grad.ndim > 0, "the gradient must have rows", found="a scalar")
    call.require(dim.ndim == 0, "the number of rows must be a scalar", found=list(dim.shape))
    call.require(
        ids.shape == indices.shape,
        "there must be one segment id for each index",
        found=f"{ids.size} ids, {indices.size} indices",
    )
    rows = int(dim)
    call.require(rows >= 0, "the number of rows must not be negative", found=rows)
    segments = grad.shape[0]
    check_below(call, ids, segments, "segment_ids")
    check_below(call, indices, rows)
    out = widen(grad)[ids]
    scale = _scale(call, ids, segments)
    return (out if scale is None else out / _column(scale[ids], out)), rows


@kernel(*_GRADIENTS)
@quiet
def sparse_segments_grad(
    call: Call, grad: Array, indices: Array, ids: Array, output_dim0: Array
) -> Array:
    """Gradient with respect to the data: [output_dim0, ...]."""
    spread, rows = _spread(call, grad, indices, ids, output_dim0)
    check_size(call, (rows, *grad.shape[1:]), grad.dtype)
    return fold_rows(np.add, spread, indices, rows, 0).astype(grad.dtype, copy=False)


@kernel(*_GRADIENTS_V2)
@quiet
def sparse_segments_grad_v2(
    call: Call, grad: Array, indices: Array, ids: Array, dense_output_dim0: Array
) -> tuple[Array, Array]:
    """Gradient rows of the indices that occur, and these indices, sorted and without repeats."""
    spread, _ = _spread(call, grad, indices, ids, dense_output_dim0)
    unique, place = np.unique(indices, return_inverse=True)
    out = fold_rows(np.add, spread, place.reshape(-1), unique.size, 0)
    return out.astype(grad.dtype, copy=False), unique
