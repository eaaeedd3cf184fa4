"""Shapes of element-wise ops that the optimizer made one node of."""

from __future__ import annotations

from functools import reduce

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape
from drystone_base.inference.shapes.array.joining import concatenated
from drystone_base.ops.own import FUSED_ELEMENTWISE

__all__: list[str] = []


@shape(FUSED_ELEMENTWISE)
def fused_elementwise(c: ShapeCall) -> list[Shape]:
    """All operands' shapes broadcast; what is joined is longer in its last dim, a slice shorter."""
    given = c.attrs.get("slices") or [0, -1] * len(c.shapes)
    read = [_sliced(s, n) for s, n in zip(c.shapes, given[1::2], strict=False)]
    shapes: list[Shape] = []
    at = 0
    for count in c.attrs.get("joins") or [1] * len(read):
        parts = read[at : at + count]
        shapes.append(parts[0] if count == 1 else concatenated(c, parts, -1))
        at += count
    return [reduce(c.broadcast, shapes)]


def _sliced(shape: Shape, count: int) -> Shape:
    return (*shape[:-1], count) if shape and count >= 0 else shape
