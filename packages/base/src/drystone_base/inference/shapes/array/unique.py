"""Shapes of the ops that find distinct elements."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape("Unique", "UniqueWithCounts")
def unique(c: ShapeCall) -> list[Shape]:
    """A vector of unknown length, the input's shape for the classes, then the counts."""
    out: list[Shape] = [(UNKNOWN,), c.with_rank(c.shape(0), 1), (UNKNOWN,)]
    return out[: c.output_count]


@shape("UniqueV2", "UniqueWithCountsV2")
def unique_v2(c: ShapeCall) -> list[Shape]:
    """The input's shape with an unknown size along the axis."""
    dims, axis = c.shape(0), c.value(1)
    if axis is None or dims is None:
        some: Shape = None if dims is None else (UNKNOWN,) * len(dims)
        return [some, (UNKNOWN,), (UNKNOWN,)][: c.output_count]
    if not axis.size and len(dims) != 1:
        c.fail("x must be a vector when no axis is given", found=list(dims), needed="rank 1")
    place = int(axis.reshape(-1)[0]) if axis.size else 0
    if not -len(dims) <= place < len(dims):
        c.fail("axis must be a dimension", found=place, needed=f"rank {len(dims)}")
    place %= len(dims)
    out: list[Shape] = [(*dims[:place], UNKNOWN, *dims[place + 1 :]), (dims[place],), (UNKNOWN,)]
    return out[: c.output_count]


@shape("ListDiff")
def list_diff(c: ShapeCall) -> list[Shape]:
    """Two vectors of unknown length."""
    c.with_rank(c.shape(0), 1)
    c.with_rank(c.shape(1), 1)
    return [(UNKNOWN,), (UNKNOWN,)]
