"""A push onto a stack from which nothing is ever popped only passes its element on.

Loops with gradients push what the way back needs; where that is not fetched, nothing pops.
"""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context

__all__ = ["run"]

_MAKES: Final = frozenset({"Stack", "StackV2"})
_PUSHES: Final = frozenset({"StackPush", "StackPushV2"})
# Through these a handle goes on; any other reader may pop or keep it.
_PASSES: Final = frozenset({
    "Enter", "RefEnter", "Exit", "RefExit", "Switch", "RefSwitch", "Merge", "RefMerge", "Identity",
    "RefIdentity", "NextIteration", "RefNextIteration",
})  # fmt: skip
_CLOSES: Final = frozenset({"StackClose", "StackCloseV2"})


def run(ctx: Context) -> None:
    """Turn pushes onto stacks without pops into identities."""
    for stack in [node for node in ctx.graph if node.op in _MAKES]:
        for push in _match(ctx, stack) or ():
            lost = push.inputs[0]
            ctx.become_identity(push, push.inputs[1], [lost])
            ctx.count("push-without-pop")


def _match(ctx: Context, stack: Node) -> list[Node] | None:
    """The pushes onto a stack whose handle goes nowhere else."""
    pushes: dict[Node, None] = {}
    seen = {stack}
    queue = [stack]
    for node in queue:
        if node.name in ctx.roots or node in ctx.fed_nodes:
            return None
        for user, at in ctx.graph.consumers(node):
            if user.op in _PUSHES and at == 0 and user not in ctx.fed_nodes:
                pushes[user] = None
            elif user.op in _PASSES:
                if user not in seen:
                    seen.add(user)
                    queue.append(user)
            elif user.op not in _CLOSES:
                return None
    return list(pushes)
