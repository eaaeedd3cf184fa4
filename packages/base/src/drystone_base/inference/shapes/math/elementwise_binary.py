"""Shapes of elementwise arithmetic: the broadcast of both arguments."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape(
    "Add", "AddV2", "Sub", "Mul", "MulNoNan", "RealDiv", "Div", "DivNoNan", "FloorDiv",
    "TruncateDiv", "FloorMod", "TruncateMod", "Mod", "Pow", "SquaredDifference", "Maximum",
    "Minimum", "Atan2", "Xdivy", "Xlogy", "Xlog1py", "NextAfter", "Complex",
)  # fmt: skip
def binary(c: ShapeCall) -> list[Shape]:
    """Both shapes broadcast."""
    return [c.broadcast(c.shape(0), c.shape(1))]


@shape("ApproximateEqual")
def approximate_equal(c: ShapeCall) -> list[Shape]:
    """The shape of both inputs, which must agree."""
    return [c.merge(c.shape(0), c.shape(1))]


@shape("AddN")
def add_n(c: ShapeCall) -> list[Shape]:
    """The shape of all inputs, which must agree."""
    merged = c.shape(0)
    for other in c.shapes[1:]:
        merged = c.merge(merged, other)
    c.output_handles = [c.handles[0]]
    return [merged]


@shape("AccumulateNV2")
def accumulate_n(c: ShapeCall) -> list[Shape]:
    """The ``shape`` attribute, made more specific by the inputs."""
    merged: Shape = c.attrs["shape"]
    for other in c.shapes:
        merged = c.merge(merged, other)
    return [merged]
