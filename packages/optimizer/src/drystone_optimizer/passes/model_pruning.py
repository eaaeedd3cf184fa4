"""Model pruning: what the fetches do not need goes, and so do nodes that only pass something on."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node, Output, reachable
from drystone_base.graph.rewiring import splice_out
from drystone_optimizer.core.bypassing import PASSING, passes_on, take_out
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.purity import gives_reference
from drystone_optimizer.core.rules import Rule, apply_rules

__all__ = ["RULES", "drop_unneeded", "run"]

_OF_ONE: Final = PASSING - {"IdentityN", "AddN", "AccumulateNV2"}


def run(ctx: Context) -> None:
    """Keep the fan-in of what must stay, then take out what has no control edges."""
    drop_unneeded(ctx)
    if ctx.fuel is None:
        _join_chains(ctx)
    apply_rules(ctx, RULES)


def drop_unneeded(ctx: Context) -> None:
    """Remove what the fan-in of the roots does not hold."""
    if not ctx.roots or (ctx.reached and not ctx.journal):
        return
    graph = ctx.graph
    needed = reachable([graph[name] for name in ctx.roots if name in graph])
    doomed = [node for node in graph if node not in needed]
    if doomed:
        for node in doomed:
            ctx.forget(node)
        graph.remove(doomed)
        ctx.count("prune", times=len(doomed))


def _join_chains(ctx: Context) -> None:
    """What the rule does, all at once, to nodes of one input that ask for no device."""
    graph, preserve, fed = ctx.graph, ctx.preserve, ctx.fed_nodes
    found: dict[Node, Output] = {}
    stays: set[Node] = set()
    for node in graph:
        if node.controls:
            stays.update(node.controls)
        inputs = node.inputs
        for source, slot in inputs:
            if slot:
                stays.add(source)
        if node.op not in _OF_ONE or node.controls or node.device or len(inputs) != 1:
            continue
        if not (node.name in preserve or node in fed or gives_reference(inputs[0][0].op)):
            found[node] = inputs[0]
    for node in stays & found.keys():
        del found[node]
    if found and _ends(found):
        splice_out(graph, found)
        for node in found:
            ctx.forget(node)
        ctx.count("bypass-identity", times=len(found))


def _ends(onward: dict[Node, Output]) -> bool:
    """Whether no chain of the nodes leads back to itself, as it may in a corrupt graph."""
    done: set[Node] = set()
    for node in onward:
        path: set[Node] = set()
        while node in onward and node not in done:
            if node in path:
                return False
            path.add(node)
            node = onward[node][0]
        done |= path
    return True


def _match(ctx: Context, node: Node) -> bool | None:
    if node.controls or not passes_on(ctx, node) or ctx.graph.control_consumers(node):
        return None
    return True


def _apply(ctx: Context, node: Node, _: bool) -> None:
    take_out(ctx, node)


RULES: Final = (Rule("bypass-identity", tuple(sorted(PASSING)), _match, _apply),)
