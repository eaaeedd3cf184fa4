"""What gradients reduce for broadcasting: nothing, where both shapes are the same."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> bool | None:
    """``BroadcastGradientArgs`` of one shape twice, or of the shapes of tensors alike."""
    one, other = node.inputs
    if one == other:
        return True
    for source, slot in (one, other):
        if source.op != "Shape" or slot or source in ctx.fed_nodes:
            return None
    shapes = [ctx.shape(source.inputs[0]) for source, _ in (one, other)]
    return True if same_shape(*shapes) else None


def _apply(ctx: Context, node: Node, _: bool) -> None:
    dtype = ctx.dtype((node, 0))
    assert dtype is not None
    controls = [*node.controls, *ctx.waits(node.inputs)]
    empty = ctx.add_constant(node, "nothing", np.zeros(0, dtype.np), controls)
    if ctx.kept(node):
        ctx.become(node, "IdentityN", [empty, empty], {"T": [dtype, dtype]}, controls)
        return
    for k in range(2):
        ctx.graph.redirect((node, k), empty)
    ctx.graph.redirect_controls(node, empty[0])
    ctx.drop(node)


RULE: Final = Rule("broadcast-gradient-of-same-shapes", ("BroadcastGradientArgs",), _match, _apply)
