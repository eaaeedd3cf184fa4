"""A reduction over as many axes as there are is one over all of them, whatever their order."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.graph import Node
from drystone_base.ops.properties import REDUCTIONS
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> int | None:
    """The rank of the data, where that many axes, which are not known, must be all of them."""
    data, axes = node.inputs
    if ctx.value(axes) is not None:
        return None
    shape, count = ctx.shape(data), ctx.shape(axes)
    if not shape or count is None or len(count) != 1 or count[0] != len(shape):
        return None  # an axis given twice is an error when the node runs
    return len(shape)


def _apply(ctx: Context, node: Node, rank: int) -> None:
    data, axes = node.inputs
    dtype = ctx.dtype(axes)
    assert dtype is not None
    controls = ctx.waits([axes])
    known = ctx.add_constant(node, "axes", np.arange(rank, dtype=dtype.np), ctx.waits([data]))
    ctx.graph.set_inputs(node, [data, known])
    if controls:
        ctx.graph.set_controls(node, [*node.controls, *controls])
    ctx.drop_unused(axes[0])


RULE: Final = Rule("reduce-all-axes", tuple(sorted(REDUCTIONS)), _match, _apply)
