"""Shapes of colour operations."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("RGBToHSV", "HSVToRGB", "AdjustHue", "AdjustSaturation")
def three_channels(c: ShapeCall) -> list[Shape]:
    """The input's shape, which must end in 3."""
    given = c.with_rank_at_least(c.shape(0), 3 if c.op.startswith("Adjust") else 1)
    return [None if given is None else (*given[:-1], c.merge_dim(given[-1], 3))]


@shape("AdjustContrastv2")
def contrast(c: ShapeCall) -> list[Shape]:
    """The input's shape, of rank 3 or more."""
    return [c.with_rank_at_least(c.shape(0), 3)]
