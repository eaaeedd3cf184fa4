"""A Reshape to the shape that its input has becomes nothing.

It stays where it tells a size that is not known of its input: it refuses any other, what is below
it is fused and placed by that size, and a graph that has lost it would be seen otherwise when it is
optimized again.
"""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> bool | None:
    before, after = ctx.shape(node.inputs[0]), ctx.shape((node, 0))
    if before is None or after is None or len(before) != len(after):
        return None
    unequal = [(a, b) for a, b in zip(before, after, strict=True) if a != b or a == -1]
    if not unequal:
        return True
    # One size that is unknown behind it follows from the number of elements, if that is not 0.
    others = [a for a, b in zip(before, after, strict=True) if a == b and a != -1]
    one = len(unequal) == 1 and unequal[0][1] < 0
    return True if one and all(d > 0 for d in others) else None


def _apply(ctx: Context, node: Node, _: bool) -> None:
    ctx.bypass(node, node.inputs[0], node.inputs[1:])


RULE: Final = Rule("identity-reshape", ("Reshape",), _match, _apply)
