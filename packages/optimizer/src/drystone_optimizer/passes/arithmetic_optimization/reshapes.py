"""Reshape of what only arranges the same elements reads what that reads.

Of Reshape, Squeeze and ExpandDims: their result has the same elements in the same order.
"""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_base.ops.properties import RESHAPES
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]

_ARRANGE: Final = tuple(sorted(RESHAPES))


def _match(ctx: Context, node: Node) -> Node | None:
    inner, slot = node.inputs[0]
    if inner.op not in _ARRANGE or slot or inner in ctx.fed_nodes or inner.controls:
        return None
    if not ctx.may_rewrite(inner):
        return None
    shape = ctx.value(node.inputs[1])
    if shape is None and ctx.noticed(inner):
        return None
    return inner


def _apply(ctx: Context, node: Node, inner: Node) -> None:
    waits = ctx.waits(inner.inputs[1:])
    ctx.graph.set_input(node, 0, inner.inputs[0])
    if waits:
        ctx.graph.set_controls(node, [*node.controls, *waits])
    ctx.drop_unused(inner)


RULE: Final = Rule("reshape-of-reshape", ("Reshape",), _match, _apply, reads=_ARRANGE)
