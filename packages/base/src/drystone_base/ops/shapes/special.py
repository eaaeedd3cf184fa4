"""Shapes of special functions: the input's, or the broadcast of all inputs."""

from __future__ import annotations

from drystone_base.ops.shapes._registry import Shape, ShapeCall, shape


@shape("Erf", "Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma")
def unary(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]
