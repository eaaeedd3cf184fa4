"""Shapes of layers that the optimizer made one node of."""

from __future__ import annotations

from drystone_base.ops.own import ATTENTION, LAYER_NORM
from drystone_base.ops.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape(LAYER_NORM)
def layer_norm(c: ShapeCall) -> list[Shape]:
    """The shape of ``x``, of rank 1 or more."""
    return [c.with_rank_at_least(c.shape(0), 1)]


@shape(ATTENTION)
def attention(c: ShapeCall) -> list[Shape]:
    """The result's dimensions in its layout: examples, heads, queries, elements of a head."""
    layouts = c.attrs["layouts"]
    sizes: dict[str, int] = {}
    for which, names in ((2, "H"), (0, "T")):
        held = c.with_rank(c.shape(which), 4)
        sizes |= {name: held[layouts[which].index(name)] for name in names}
    return [tuple(sizes.get(name, UNKNOWN) for name in layouts[3])]
