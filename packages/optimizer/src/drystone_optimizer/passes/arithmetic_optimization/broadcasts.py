"""BroadcastTo of BroadcastTo reads what that reads."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import unseen

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> Node | None:
    inner = unseen(ctx, node.inputs[0], ("BroadcastTo",))
    if inner is None or ctx.shape((inner, 0)) is None or ctx.noticed(inner):
        return None
    return inner


def _apply(ctx: Context, node: Node, inner: Node) -> None:
    ctx.graph.set_input(node, 0, inner.inputs[0])
    ctx.drop_unused(inner)


RULE: Final = Rule(
    "broadcast-of-broadcast", ("BroadcastTo",), _match, _apply, reads=("BroadcastTo",)
)
