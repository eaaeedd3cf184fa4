"""Rewrites: what one is, what it may do to numbers, and the worklist that applies them.

A rule looks at one node of certain ops. ``match`` only looks and gives what it found, or None;
``apply`` rewrites the graph accordingly. The worklist goes through the nodes that some rule is for,
and once more through those that a rewrite touched, until no rule matches anywhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.graph import Node

if TYPE_CHECKING:
    from drystone_optimizer.core.context import Context
    from drystone_optimizer.passes._late_rules import LateRules

__all__ = ["Numeric", "Rule", "apply_rules", "are_new"]

_MAX_SCANS: Final = 16
_MOST_KNOWN: Final = 256
_MOST_KINDS: Final = 4096


class Numeric(IntEnum):
    """What a rewrite may do to values, from nothing to most.

    ``EXACT``: the same operations on the same numbers. ``REASSOCIATES``: the same value in real
    arithmetic; roundings and the sign of a zero may differ. ``APPROXIMATE``: NaN, infinities, ties
    or precision may differ.
    """

    EXACT = 0
    REASSOCIATES = 1
    APPROXIMATE = 2


class Rule(NamedTuple):
    """One rewrite: for nodes of ``ops`` (of any op where that is empty), of this numeric class.

    ``aggressive``: only where the pass is set to AGGRESSIVE. ``no_ops``: for none of these.
    ``reads``: it matches no node that reads none of these; empty where that is not so.
    """

    name: str
    ops: tuple[str, ...]
    match: Callable[[Context, Node], Any]
    apply: Callable[[Context, Node, Any], None]
    numeric: Numeric = Numeric.EXACT
    aggressive: bool = False
    no_ops: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


def apply_rules(
    ctx: Context, rules: Sequence[Rule] | LateRules, *, sources_first: bool = False
) -> int:
    """Apply rules, earlier ones first, to the graph's nodes until none matches; how many did.

    They come in the order of the graph, or with ``sources_first`` after what they read. Where these
    rules have been applied before, only what was edited since and what is near that is looked at.
    Rules above the context's numeric ceiling are left out. Bounded by the size of the graph, should
    rules undo each other.
    """
    begin, budget = ctx.rewrites, 1000 + 20 * len(ctx.graph)
    key, chosen = _chosen(rules, ctx.ceiling, ctx.aggressive)
    for _ in range(_MAX_SCANS):
        before, seen = ctx.rewrites, ctx.looked_at.get(key)
        ctx.looked_at[key] = ctx.now()
        if seen is None:
            nodes: Iterable[Node] = ctx.order() if sources_first else ctx.graph
        else:
            nodes = ctx.near_edits(seen)
        todo = [node for node in nodes if chosen.may_be[node.op]]
        _scan(ctx, chosen, todo, begin + budget)
        if ctx.rewrites == before or ctx.rewrites >= begin + budget:
            break
    return ctx.rewrites - begin


def are_new(ctx: Context, rules: Sequence[Rule] | LateRules) -> bool:
    """Whether these rules have not been applied to the graph before."""
    return _chosen(rules, ctx.ceiling, ctx.aggressive)[0] not in ctx.looked_at


_Reads = frozenset[str]


class _Chosen(dict[tuple[str, _Reads], tuple[Rule, ...]]):
    """The rules that may be applied to nodes of an op that read such ops, found when one comes up.

    ``may_be``: whether there may be any for an op; no module is imported for that.
    """

    def __init__(
        self, rules: Sequence[Rule] | LateRules, ceiling: Numeric, aggressive: bool
    ) -> None:
        self.rules, self.ceiling, self.aggressive = rules, ceiling, aggressive
        self.may_be = _MayBe(self)

    def of(self, node: Node) -> tuple[Rule, ...]:
        """The rules for a node as it is now."""
        return self[node.op, frozenset([source.op for source, _ in node.inputs])]

    def __missing__(self, key: tuple[str, _Reads]) -> tuple[Rule, ...]:
        if len(self) >= _MOST_KINDS:
            self.clear()
        op, reads = key
        rules = self.rules
        some = rules if isinstance(rules, Sequence) else rules.of(op, reads)
        found = self[key] = tuple([r for r in some if self.is_for(r, op, reads)])
        return found

    def is_for(self, rule: Rule, op: str, reads: _Reads | None = None) -> bool:
        """Whether a rule may be applied to nodes of an op, that read these ops."""
        if rule.numeric > self.ceiling or (rule.aggressive and not self.aggressive):
            return False
        if (rule.ops and op not in rule.ops) or op in rule.no_ops:
            return False
        return reads is None or not rule.reads or not reads.isdisjoint(rule.reads)


class _MayBe(dict[str, bool]):
    """Whether there may be rules for an op."""

    def __init__(self, chosen: _Chosen) -> None:
        self.chosen = chosen

    def __missing__(self, op: str) -> bool:
        rules, is_for = self.chosen.rules, self.chosen.is_for
        if not isinstance(rules, Sequence) and op in rules.ops:
            found = True
        else:
            some = rules if isinstance(rules, Sequence) else rules.of_any()
            found = any(is_for(rule, op) for rule in some)
        self[op] = found
        return found


_Key = tuple[str, ...]
_KNOWN: Final[
    dict[tuple[int, Numeric, bool], tuple[Sequence[Rule] | LateRules, _Key, _Chosen]]
] = {}
"""By the identity of the rules, which each pass holds once: to hash some forty of them costs."""


def _chosen(
    rules: Sequence[Rule] | LateRules, ceiling: Numeric, aggressive: bool
) -> tuple[_Key, _Chosen]:
    """What tells these rules from others, and those that may be applied."""
    found = _KNOWN.get((id(rules), ceiling, aggressive))
    if found is not None and found[0] is rules:
        return found[1], found[2]
    key = tuple(r.name for r in rules) if isinstance(rules, Sequence) else rules.modules
    chosen = _Chosen(rules, ceiling, aggressive)
    if len(_KNOWN) < _MOST_KNOWN:
        _KNOWN[id(rules), ceiling, aggressive] = (rules, key, chosen)
    return key, chosen


def _scan(ctx: Context, rules: _Chosen, nodes: list[Node], limit: int) -> None:
    graph = ctx.graph
    queue = deque(nodes)
    queued = set(nodes)
    while queue:
        node = queue.popleft()
        queued.discard(node)
        if graph.get(node.name) is not node:
            continue
        mine = rules.of(node)
        if not mine:
            continue
        ctx.tick()
        for touched in _try(ctx, mine, node):
            if rules.may_be[touched.op] and touched not in queued:
                queued.add(touched)
                queue.append(touched)
        if ctx.rewrites >= limit:
            return


def _try(ctx: Context, rules: Sequence[Rule], node: Node) -> Iterable[Node]:
    """Apply the first rule that matches; the nodes that are worth another look then."""
    graph = ctx.graph
    for rule in rules:
        if rule.name in ctx.left_out:
            continue
        found = rule.match(ctx, node)
        if found is None:
            continue
        if not ctx.may_rewrite(node):
            return ()
        mark = len(ctx.journal)
        rule.apply(ctx, node, found)
        if ctx.is_strict:
            ctx.hold(mark, rule.name)
        ctx.count(rule.name, rule.numeric)
        near: dict[Node, None] = {}
        for touched in ctx.journal[mark:]:
            if graph.get(touched.name) is touched and touched not in near:
                near[touched] = None
                near.update(dict.fromkeys(graph.users(touched)))
        return near
    return ()
