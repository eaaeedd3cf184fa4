"""Shapes of reductions over segments."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


def _count(c: ShapeCall, index: int) -> int:
    count = c.int_value(index)
    if count is not None and count < 0:
        c.fail("the number of segments must not be negative", found=count, needed="0 or more")
    return UNKNOWN if count is None else count


def _rows(c: ShapeCall, first: int) -> list[Shape]:
    given = c.with_rank_at_least(c.shape(0), 1)
    return [None if given is None else (first, *given[1:])]


@shape("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax")
def sorted_segments(c: ShapeCall) -> list[Shape]:
    """As many rows as the ids, which are a vector, say."""
    c.with_rank(c.shape(1), 1)
    ids = c.value(1)
    return _rows(c, int(ids.max(initial=-1)) + 1 if ids is not None else UNKNOWN)


@shape("SegmentSumV2", "SegmentProdV2", "SegmentMinV2", "SegmentMaxV2")
def sorted_segments_v2(c: ShapeCall) -> list[Shape]:
    """``num_segments`` rows."""
    c.with_rank(c.shape(1), 1)
    return _rows(c, _count(c, 2))


@shape("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMin", "UnsortedSegmentMax")
def unsorted_segments(c: ShapeCall) -> list[Shape]:
    """``num_segments`` in place of the dimensions that the ids cover."""
    data, ids = c.shape(0), c.shape(1)
    count = _count(c, 2)
    if data is None or ids is None:
        return [None]
    if len(ids) > len(data):
        c.fail("segment_ids must have the leading dimensions of the data", found=list(ids))
    c.merge(data[: len(ids)], ids)
    return [(count, *data[len(ids) :])]


@shape("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")
def sparse_segments(c: ShapeCall) -> list[Shape]:
    """As many rows as the ids say; one id for each index."""
    c.merge(c.with_rank(c.shape(1), 1), c.with_rank(c.shape(2), 1))
    ids = c.value(2)
    return _rows(c, int(ids.max(initial=-1)) + 1 if ids is not None else UNKNOWN)


@shape(
    "SparseSegmentSumWithNumSegments", "SparseSegmentMeanWithNumSegments",
    "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSumGrad", "SparseSegmentMeanGrad",
    "SparseSegmentSqrtNGrad",
)  # fmt: skip
def sparse_segments_counted(c: ShapeCall) -> list[Shape]:
    """As many rows as the last input says."""
    c.merge(c.with_rank(c.shape(1), 1), c.with_rank(c.shape(2), 1))
    return _rows(c, _count(c, 3))


@shape("SparseSegmentSumGradV2", "SparseSegmentMeanGradV2", "SparseSegmentSqrtNGradV2")
def sparse_segments_grad_v2(c: ShapeCall) -> list[Shape]:
    """Rows of the indices that occur, and these indices."""
    c.merge(c.with_rank(c.shape(1), 1), c.with_rank(c.shape(2), 1))
    return [*_rows(c, UNKNOWN), (UNKNOWN,)]
