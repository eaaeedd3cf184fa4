"""Loop optimization: branches that are never taken go, loops that are never entered, stack pushes.

Products of a list's elements with the same matrix are one before the loop.

If asked to be aggressive, also what is the same in all iterations goes before the loop.
"""

from __future__ import annotations

from drystone_optimizer.context import Context
from drystone_optimizer.passes.loop_optimization import (
    dead_branches,
    invariant,
    never_entered,
    products,
    stacks,
)

__all__ = ["run"]


def run(ctx: Context) -> None:
    """Move work out, take pushes off stacks without pops, cut what constants decide."""
    invariant.run(ctx)
    products.run(ctx)
    stacks.run(ctx)
    never_entered.run(ctx)
    dead_branches.run(ctx)
