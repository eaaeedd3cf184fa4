"""Shapes of layers that the optimizer made one node of."""

from __future__ import annotations

from drystone_base.ops.own import LAYER_NORM
from drystone_base.ops.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape(LAYER_NORM)
def layer_norm(c: ShapeCall) -> list[Shape]:
    """The shape of ``x``, of rank 1 or more."""
    return [c.with_rank_at_least(c.shape(0), 1)]
