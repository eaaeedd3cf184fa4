"""Model pruning: what the fetches do not need goes, and so do nodes that only pass something on."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node, reachable
from drystone_optimizer.bypassing import PASSING, passes_on, take_out
from drystone_optimizer.context import Context
from drystone_optimizer.rules import Rule, apply_rules

__all__ = ["RULES", "drop_unneeded", "run"]


def run(ctx: Context) -> None:
    """Keep the fan-in of what must stay, then take out what has no control edges."""
    drop_unneeded(ctx)
    apply_rules(ctx, RULES)


def drop_unneeded(ctx: Context) -> None:
    """Remove what the fan-in of the roots does not hold."""
    if not ctx.roots:
        return
    graph = ctx.graph
    needed = reachable([graph[name] for name in ctx.roots if name in graph])
    doomed = [node for node in graph if node not in needed]
    if doomed:
        for node in doomed:
            ctx.forget(node)
        graph.remove(doomed)
        ctx.count("unneeded", times=len(doomed))


def _match(ctx: Context, node: Node) -> bool | None:
    if node.controls or not passes_on(ctx, node) or ctx.graph.control_consumers(node):
        return None
    return True


def _apply(ctx: Context, node: Node, _: bool) -> None:
    take_out(ctx, node)


RULES: Final = (Rule("passes-on", tuple(sorted(PASSING)), _match, _apply),)
