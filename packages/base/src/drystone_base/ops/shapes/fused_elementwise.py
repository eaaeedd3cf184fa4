"""Shapes of element-wise ops that the optimizer made one node of."""

from __future__ import annotations

from functools import reduce

from drystone_base.ops.own import FUSED_ELEMENTWISE
from drystone_base.ops.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape(FUSED_ELEMENTWISE)
def fused_elementwise(c: ShapeCall) -> list[Shape]:
    """All inputs' shapes broadcast."""
    return [reduce(c.broadcast, c.shapes)]
