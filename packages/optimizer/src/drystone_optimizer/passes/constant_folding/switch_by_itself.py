"""What a bool gives that is switched by itself: false to one side, true to the other."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> list[int] | None:
    """The outputs that are read by more than the node that constants can wait for."""
    data, choice = node.inputs
    if data != choice or ctx.kept(node):
        return None
    return [k for k in range(2) if _readers(ctx, (node, k))] or None


def _readers(ctx: Context, output: Output) -> list[Node]:
    anchor = ctx.waiting_at(output)
    return [user for user, _ in ctx.users(output) if user is not anchor]


def _apply(ctx: Context, node: Node, sides: list[int]) -> None:
    for side in sides:
        output = (node, side)
        anchor = ctx.anchor(output)
        held = ctx.add_constant(node, f"side_{side}", np.array(bool(side)), [anchor])
        for user in dict.fromkeys(_readers(ctx, output)):
            ctx.graph.set_inputs(user, [held if o == output else o for o in user.inputs])


RULE: Final = Rule("switch-by-itself", ("Switch",), _match, _apply)
