"""Shapes of barrier ops: a barrier's handle does not carry the shapes of its components."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("Barrier", "BarrierReadySize", "BarrierIncompleteSize")
def scalar(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("BarrierInsertMany")
def insert_many(c: ShapeCall) -> list[Shape]:
    """Nothing; there is a value for each key."""
    (keys,) = c.with_rank(c.shape(1), 1)
    values = c.with_rank_at_least(c.shape(2), 1)
    if values is not None:
        c.merge_dim(keys, values[0])
    return []


@shape("BarrierTakeMany")
def take_many(c: ShapeCall) -> list[Shape]:
    """Unknown, as many as are taken."""
    return [None] * c.output_count


@shape("BarrierClose")
def nothing(_: ShapeCall) -> list[Shape]:
    """Nothing."""
    return []
