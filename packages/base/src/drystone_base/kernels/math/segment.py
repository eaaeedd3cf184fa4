"""Reductions over segments of rows, sorted or not.

Source: TensorFlow ops of the same names. float16 and bfloat16 accumulate in float32.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.kernels._indices import is_rising
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.math._segments import fold_rows, segment_sizes

_FOLDS: Final[dict[str, tuple[np.ufunc, int]]] = {
    "Sum": (np.add, 0),
    "Mean": (np.add, 0),
    "Prod": (np.multiply, 1),
    "Min": (np.minimum, 0),
    "Max": (np.maximum, 0),
}


def check_sorted(call: Call, ids: Array, rows: int) -> None:
    """Refuse segment ids that are no rising vector of ``rows`` non-negative ints."""
    call.require(ids.ndim == 1, "segment_ids must be a vector", found=list(ids.shape))
    call.require(
        ids.size == rows,
        "there must be one segment id for each row",
        found=f"{ids.size} ids for {rows} rows",
    )
    call.require(
        not ids.size or int(ids[0]) >= 0, "segment ids must not be negative", found=ids[:1].tolist()
    )
    call.require(is_rising(ids), "segment ids must not decrease", found=ids[:8].tolist())


def segment_count(call: Call, num_segments: Array, ids: Array) -> int:
    """The given number of segments; refused when an id lies beyond it."""
    call.require(
        num_segments.ndim == 0, "num_segments must be a scalar", found=list(num_segments.shape)
    )
    count = int(num_segments)
    highest = int(ids.max()) if ids.size else -1
    call.require(count >= 0, "num_segments must not be negative", found=count, needed="0 or more")
    call.require(
        highest < count,
        "segment ids must be below num_segments",
        found=highest,
        needed=f"[0, {count})",
    )
    return count


@kernel("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax")
@quiet
def sorted_segments(call: Call, data: Array, ids: Array) -> Array:
    """Rows of ``data`` with one id folded together: [segments, ...]; ids must not decrease.

    There are as many segments as the last id plus one; those without rows are 0, for Prod 1.
    """
    call.require(data.ndim > 0, "the data must have rows", found="a scalar")
    check_sorted(call, ids, data.shape[0])
    count = int(ids[-1]) + 1 if ids.size else 0
    check_size(call, (count, *data.shape[1:]), data.dtype)
    check_size(call, (count,), np.dtype(np.int64))  # the sizes of the segments
    name = call.op.removeprefix("Segment")
    function, fill = _FOLDS[name]
    out = fold_rows(function, widen(data), ids, count, fill)
    if name == "Mean":
        out = _divide(out, segment_sizes(ids, count))
    return out.astype(data.dtype, copy=False)


def _divide(total: Array, sizes: Array) -> Array:
    """Each segment's total by its size; integers are cut towards zero."""
    column = np.maximum(sizes, 1).reshape(-1, *([1] * (total.ndim - 1)))
    if total.dtype.kind not in "iu":
        return np.asarray(total / column.astype(total.real.dtype))
    quotient = np.abs(total) // column.astype(total.dtype)
    return np.asarray(np.where(total < 0, -quotient, quotient)).astype(total.dtype)


def _extreme(dtype: np.dtype[Any], *, highest: bool) -> Any:
    """The finite number that every other one beats."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).max if highest else np.iinfo(dtype).min
    limit = float(np.finfo(dtype).max) if dtype.kind == "f" else _BFLOAT16_MAX
    return limit if highest else -limit


_BFLOAT16_MAX: Final = 3.3895313892515355e38


@kernel(
    "UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMin", "UnsortedSegmentMax"
)  # fmt: skip
@quiet
def unsorted_segments(call: Call, data: Array, ids: Array, num_segments: Array) -> Array:
    """Slices of ``data`` with one id folded together: [num_segments, ...].

    ``ids`` has the leading shape of ``data``; negative ones are dropped. Segments without slices
    hold 0 for Sum, 1 for Prod, the largest or smallest finite number for Min and Max.
    """
    call.require(
        data.shape[: ids.ndim] == ids.shape,
        "segment_ids must have the leading dimensions of the data",
        found=f"ids {list(ids.shape)}, data {list(data.shape)}",
    )
    return _folded(call, data, ids, segment_count(call, num_segments, ids))


@kernel("SegmentSumV2", "SegmentProdV2", "SegmentMinV2", "SegmentMaxV2")
@quiet
def segments_of_a_count(call: Call, data: Array, ids: Array, num_segments: Array) -> Array:
    """As the unsorted ops; rows of every id that is no segment are dropped.

    As TensorFlow's compiler has it, which alone runs these: ids in no order, beyond the count too.
    """
    call.require(data.ndim > 0, "the data must have rows", found="a scalar")
    call.require(
        ids.shape == data.shape[:1],
        "there must be one segment id for each row",
        found=f"ids {list(ids.shape)}, data {list(data.shape)}",
    )
    count = segment_count(call, num_segments, ids[:0])
    return _folded(call, data, np.where(ids < count, ids, -1), count)


def _folded(call: Call, data: Array, ids: Array, count: int) -> Array:
    """Slices by their id, which is below ``count``; those of negative ids are dropped."""
    tail = data.shape[ids.ndim :]
    check_size(call, (count, *tail), data.dtype)
    flat = ids.reshape(-1)
    rows = data.reshape(flat.size, *tail)
    if (flat < 0).any():
        rows, flat = rows[flat >= 0], flat[flat >= 0]
    name = call.op.removeprefix("Unsorted").removeprefix("Segment").removesuffix("V2")
    function, fill = _FOLDS[name]
    start = _extreme(data.dtype, highest=name == "Min") if name in ("Min", "Max") else fill
    out = fold_rows(function, widen(rows), flat, count, start)
    if name in ("Min", "Max"):
        out = function(out, out.dtype.type(start))  # no infinity beyond what they start from
    return np.asarray(out).astype(data.dtype, copy=False)
