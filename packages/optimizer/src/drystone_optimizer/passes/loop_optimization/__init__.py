"""Loop optimization: branches that are never taken go, and stacks that nobody pops."""

from __future__ import annotations

from drystone_optimizer.context import Context
from drystone_optimizer.passes.loop_optimization import dead_branches, stacks

__all__ = ["run"]


def run(ctx: Context) -> None:
    """Take pushes off stacks without pops, then cut branches off Switches of constants."""
    stacks.run(ctx)
    dead_branches.run(ctx)
