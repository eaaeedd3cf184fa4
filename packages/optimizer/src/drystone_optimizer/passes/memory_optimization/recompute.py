"""Values that gradients need are computed a second time, late, rather than held all the time.

Candidates are pure nodes outside of branches and loops: those marked ``_recompute_hint`` or, by
heuristics, those of cheap ops. Connected ones that some target reads get copies, which wait for
what the first target reads besides in the target scope; targets before it read what they read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from drystone_base.graph import Node, conditional_nodes, topological_order
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.purity import is_pure

__all__ = ["CHEAP", "HINT", "PREFIX", "run"]

HINT: Final = "_recompute_hint"
PREFIX: Final = "Recomputed/"
CHEAP: Final = frozenset({
    "Add", "AddN", "AddV2", "BiasAdd", "Cast", "Fill", "FloorDiv", "FloorMod", "FusedBatchNorm",
    "FusedBatchNormV2", "FusedBatchNormV3", "LeakyRelu", "Mul", "Neg", "RealDiv", "Reciprocal",
    "Relu", "Relu6", "Reshape", "Rsqrt", "Sigmoid", "Sqrt", "Square", "SquaredDifference", "Sub",
    "Tile", "Transpose",
})  # fmt: skip
_SCOPE: Final = "gradients/"


def run(ctx: Context, *, by_hand: bool) -> None:
    """Copy what is worth it."""
    scope = ctx.config.memory_optimizer_target_node_name_scope or _SCOPE
    targets = [n for n in ctx.graph if _is_target(n, scope)]
    if not targets:
        ctx.decline(f"no node is below {scope}")
        return
    place = {node: k for k, node in enumerate(topological_order(ctx.graph))}
    for group in _groups(ctx, targets, by_hand):
        users = sorted(_users(group, targets), key=place.__getitem__)
        first = next((k for k, user in enumerate(users) if _triggers(user, group, scope)), None)
        if first is None:
            ctx.decline("nothing that comes late to wait for")
            continue
        triggers = _triggers(users[first], group, scope)
        _copy(ctx, sorted(group, key=place.__getitem__), users[first:], triggers)


def _is_target(node: Node, scope: str) -> bool:
    return node.name.startswith(scope) or f"/{scope}" in node.name


def _groups(ctx: Context, targets: Sequence[Node], by_hand: bool) -> list[set[Node]]:
    """Connected candidates, each group with what it needs of its kind, that targets read."""
    inside, aims = conditional_nodes(ctx.graph), set(targets)
    seen: set[Node] = set()

    def fits(node: Node) -> bool:
        if node in inside or node in aims or node in ctx.fed_nodes or not is_pure(node):
            return False
        if ctx.noticed(node) or not node.inputs or node.name.startswith(PREFIX):
            return False
        return node.states(HINT) if by_hand else node.op in CHEAP

    groups = []
    for target in targets:
        if target in inside:
            continue
        for source, _ in target.inputs:
            if source not in seen and fits(source):
                group = _connected(ctx, source, fits)
                seen |= group
                groups.append(group)
    return groups


def _connected(ctx: Context, begin: Node, fits: Callable[[Node], bool]) -> set[Node]:
    found, stack = {begin}, [begin]
    while stack:
        node = stack.pop()
        near = [s for s, _ in node.inputs] + [u for u, _ in ctx.graph.consumers(node)]
        for one in near:
            if one not in found and fits(one):
                found.add(one)
                stack.append(one)
    return found


def _users(group: set[Node], targets: Sequence[Node]) -> list[Node]:
    return [t for t in targets if any(source in group for source, _ in t.inputs)]


def _triggers(first: Node, group: set[Node], scope: str) -> list[Node]:
    """What a target waits for besides, but for constants: none of it waits for a later target."""
    read = [source for source, _ in first.inputs]
    sources = dict.fromkeys(s for s in [*read, *first.controls] if s not in group)
    return [s for s in sources if _is_target(s, scope) and (s.inputs or s.controls)]


def _copy(
    ctx: Context, group: Sequence[Node], users: Sequence[Node], triggers: Sequence[Node]
) -> None:
    """Copies of what the users need of a group, sources first; the users read them."""
    needed, stack = set[Node](), [s for user in users for s, _ in user.inputs if s in group]
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack.extend(source for source, _ in node.inputs if source in group)
    twins: dict[Node, Node] = {}
    for node in group:
        if node not in needed:
            continue
        twin = ctx.graph.adopt(node, ctx.graph.unique_name(f"{PREFIX}{node.name}"))
        ctx.graph.remove_attr(twin, HINT)
        ctx.graph.set_inputs(twin, [(twins.get(s, s), k) for s, k in node.inputs])
        waits = [*node.controls, *([] if any(s in twins for s, _ in node.inputs) else triggers)]
        ctx.graph.set_controls(twin, waits)
        ctx.note(twin)
        twins[node] = twin
    for user in users:
        ctx.graph.set_inputs(user, [(twins.get(s, s), k) for s, k in user.inputs])
    ctx.count("recompute", times=len(twins))
