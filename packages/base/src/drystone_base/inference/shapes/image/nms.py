"""Shapes of non-maximum suppression."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


def _check_boxes(c: ShapeCall) -> None:
    boxes, four = c.with_rank(c.shape(0), 2)
    c.merge_dim(four, 4)
    c.merge_dim(boxes, c.with_rank(c.shape(1), 1)[0])


@shape("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def chosen(c: ShapeCall) -> list[Shape]:
    """As many as are chosen."""
    _check_boxes(c)
    return [(UNKNOWN,)]


@shape("NonMaxSuppressionWithOverlaps")
def chosen_by_overlaps(c: ShapeCall) -> list[Shape]:
    """As many as are chosen."""
    rows, columns = c.with_rank(c.shape(0), 2)
    c.merge_dim(c.merge_dim(rows, columns), c.with_rank(c.shape(1), 1)[0])
    return [(UNKNOWN,)]


@shape("NonMaxSuppressionV4", "NonMaxSuppressionV5")
def padded(c: ShapeCall) -> list[Shape]:
    """As many as are chosen or asked for, and a scalar."""
    _check_boxes(c)
    count = c.int_value(2) if c.attrs["pad_to_max_output_size"] else None
    indices = (UNKNOWN if count is None else count,)
    return [indices, *[indices] * (c.output_count - 2), ()]


@shape("CombinedNonMaxSuppression")
def combined(c: ShapeCall) -> list[Shape]:
    """Boxes, scores, classes and counts."""
    batch, boxes, _, four = c.with_rank(c.shape(0), 4)
    first, rows, classes = c.with_rank(c.shape(1), 3)
    c.merge_dim(four, 4)
    c.merge_dim(boxes, rows)
    batch = c.merge_dim(batch, first)
    size, each = c.int_value(3), c.int_value(2)
    if size is not None and c.attrs["pad_per_class"]:
        size = min(size, each * classes) if each is not None and classes >= 0 else None
    count = UNKNOWN if size is None else size
    return [(batch, count, 4), (batch, count), (batch, count), (batch,)]
