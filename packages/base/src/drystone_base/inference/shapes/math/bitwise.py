"""Shapes of bitwise operations."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift")
def bitwise(c: ShapeCall) -> list[Shape]:
    """Both shapes broadcast."""
    return [c.broadcast(c.shape(0), c.shape(1))]
