"""Loop optimization: branches that are never taken go, loops that are never entered, stack pushes.

Products of a list's elements with the same matrix are one before the loop, as are sums with a bias.

If asked to be aggressive, also what is the same in all iterations goes before the loop.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from drystone_optimizer.core.context import Context

__all__ = ["run"]

_STAGES: Final = (
    ("invariant", frozenset(("Enter",))),
    ("list_elements", frozenset(("While", "StatelessWhile"))),
    ("stacks", frozenset(("Stack", "StackV2"))),
    ("never_entered", frozenset(("LoopCond",))),
    ("dead_branches", frozenset(("Switch",))),
)
"""Each stage begins at nodes of these ops, and is imported for a graph that has some."""


def run(ctx: Context) -> None:
    """Move work out, take pushes off stacks without pops, cut what constants decide."""
    ops = {node.op for node in ctx.graph}
    for name, begins in _STAGES:
        if not ops.isdisjoint(begins):
            import_module(f"{__name__}.{name}").run(ctx)
