"""The shape of an isotonic regression."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("IsotonicRegression")
def isotonic_regression(c: ShapeCall) -> list[Shape]:
    """The input's shape, twice."""
    return [c.shape(0), c.shape(0)]
