"""Shapes of layers that the optimizer made one node of."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.ops.own import ATTENTION, LAYER_NORM

__all__: list[str] = []


@shape(LAYER_NORM)
def layer_norm(c: ShapeCall) -> list[Shape]:
    """The shape of ``x``, of rank 1 or more."""
    return [c.with_rank_at_least(c.shape(0), 1)]


@shape(ATTENTION)
def attention(c: ShapeCall) -> list[Shape]:
    """The result's dimensions in its layout: examples, heads, queries, elements of a head."""
    layouts = c.attrs["layouts"]
    held = [c.with_rank(c.shape(k), 4) for k in range(3)]
    sizes = {name: held[k][layouts[k].index(name)] for k, name in ((2, "H"), (0, "T"))}
    for name in "BN":
        dim: Shape = (1,)
        for layout, dims in zip(layouts, held, strict=False):
            dim = c.broadcast(dim, (dims[layout.index(name)],))
        sizes[name] = dim[0] if dim else UNKNOWN
    return [tuple(sizes[name] for name in layouts[3])]
