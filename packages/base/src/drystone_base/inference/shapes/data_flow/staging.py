"""Shapes of staging areas: what was staged is not known."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("Stage", "StageClear", "MapStage", "MapClear", "OrderedMapStage", "OrderedMapClear")
def nothing(_: ShapeCall) -> list[Shape]:
    """Nothing."""
    return []


@shape(
    "StageSize", "MapSize", "MapIncompleteSize", "OrderedMapSize", "OrderedMapIncompleteSize",
)  # fmt: skip
def size(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape(
    "Unstage", "StagePeek", "MapUnstage", "MapPeek", "MapUnstageNoKey", "OrderedMapUnstage",
    "OrderedMapPeek", "OrderedMapUnstageNoKey",
)  # fmt: skip
def taken(c: ShapeCall) -> list[Shape]:
    """Unknown."""
    return [None] * c.output_count
