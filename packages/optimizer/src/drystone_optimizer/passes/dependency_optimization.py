"""Dependency optimization: control edges that order nothing go, and so do nodes kept only by them.

A control edge orders something when its source has an effect, reads what something writes, depends
on such a node, or runs in a branch or loop only (``Context.noticed``).
"""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_base.ops.properties import CONTROL_FLOW
from drystone_optimizer.core.bypassing import PASSING, may_take_out, passes_on, take_out
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.purity import is_pure
from drystone_optimizer.core.rules import Rule, apply_rules

__all__ = ["RULES", "run"]

_MERGES: Final = frozenset({"Merge", "RefMerge"})
# How far back a control edge is followed to see whether another path makes it superfluous.
_MAX_WALK: Final = 256


def run(ctx: Context) -> None:
    """Drop control edges, turn nodes that only order into NoOp, and join what those leave."""
    if not any(node.controls for node in ctx.graph):
        return
    for node in [node for node in ctx.graph if node.controls]:
        ctx.tick()
        _drop_idle(ctx, node)
    if not any(node.controls for node in ctx.graph):
        return
    for node in reversed(ctx.order()):
        ctx.tick()
        _only_orders(ctx, node)
    apply_rules(ctx, RULES)
    _reduce(ctx)


def _drop_idle(ctx: Context, node: Node) -> None:
    """Drop control inputs that order nothing, and those that a data input repeats."""
    read = {o[0] for o in node.inputs if o not in ctx.fed} if node.op not in _MERGES else ()
    wanted = [c for c in dict.fromkeys(node.controls) if c not in read and ctx.noticed(c)]
    if len(wanted) < len(node.controls):
        ctx.count("idle-control-edges", times=len(node.controls) - len(wanted))
        ctx.graph.set_controls(node, wanted)


def _only_orders(ctx: Context, node: Node) -> None:
    """Make a pure node that only control edges leave a NoOp that waits for what it read."""
    graph = ctx.graph
    for user in graph.users(node):
        if not graph.waits(user, node):
            return  # it reads the node
    if node.op == "NoOp" or ctx.kept(node) or node in ctx.fed_nodes or not is_pure(node):
        return
    if graph.consumers(node) or not graph.has_users(node):
        return
    if any(source.op in CONTROL_FLOW for source, _ in node.inputs):
        return  # an anchor: what waits for it is dead where the branch is
    controls = [*node.controls, *ctx.waits(node.inputs)]
    ctx.become(node, "NoOp", (), {}, controls)
    ctx.count("ordering-only-node")


def _match_passing(ctx: Context, node: Node) -> bool | None:
    return True if passes_on(ctx, node) and may_take_out(ctx, node) else None


def _match_no_op(ctx: Context, node: Node) -> bool | None:
    return True if not ctx.kept(node) and may_take_out(ctx, node) else None


def _apply(ctx: Context, node: Node, _: bool) -> None:
    take_out(ctx, node)


RULES: Final = (
    Rule("bypass-identity", tuple(sorted(PASSING)), _match_passing, _apply),
    Rule("bypass-noop", ("NoOp",), _match_no_op, _apply),
)


def _reduce(ctx: Context) -> None:
    """Drop each control edge beside which another path leads from its source to its target."""
    waiting = [node for node in ctx.graph if node.controls and node.op not in _MERGES]
    if not waiting:
        return
    rank = {node: k for k, node in enumerate(ctx.order())}
    for node in waiting:
        ctx.tick()
        beside = _implied(ctx, node, rank)
        if beside:
            ctx.graph.set_controls(node, [c for c in node.controls if c not in beside])
            ctx.count("transitive-control-edges", times=len(beside))


def _implied(ctx: Context, node: Node, rank: dict[Node, int]) -> set[Node]:
    """Control inputs that some other input of the node waits for in any case.

    Not by way of a node that is fed: that does not run.
    """

    def before(one: Node) -> list[Node]:
        sources = (*(o[0] for o in one.inputs), *one.controls)
        return [s for s in sources if s.op not in CONTROL_FLOW and s not in ctx.fed_nodes]

    wanted = {c for c in node.controls if c.op not in CONTROL_FLOW}
    if not wanted:
        return set()
    lowest = min(rank[c] for c in wanted)
    stack = before(node)
    found: set[Node] = set()
    seen = set(stack)
    while stack and len(seen) <= _MAX_WALK:
        one = stack.pop()
        for source in before(one):
            if source in wanted:
                found.add(source)
            if source not in seen and rank[source] >= lowest:
                seen.add(source)
                stack.append(source)
    return found
