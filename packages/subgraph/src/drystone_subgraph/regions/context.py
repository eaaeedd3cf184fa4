"""Which nodes run under the same conditions, so that one operator may stand for them.

An operator runs when all its inputs have values. Nodes of a branch (between Switch and Merge) or of
a loop of frames may be dead, or run many times; a region must not join such a node with one of
another branch or frame, or what was alive would be dead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from drystone_base.core.errors import GraphError
from drystone_base.graph import Node, topological_order
from drystone_base.graph.topology import DEAD_WITH
from drystone_base.ops.properties import CONTROL_FLOW, MERGES, NEXT_ITERATIONS, SWITCHES

__all__ = ["Context", "Wiring", "wiring"]

_ENTERS: Final = frozenset({"Enter", "RefEnter"})
_EXITS: Final = frozenset({"Exit", "RefExit"})
_MOST: Final = 64
"""Conditions of branches in branches, beyond which the outer ones are one together."""


@dataclass(frozen=True)
class Context:
    """The frame that a node runs in, and the outcomes of Switches that it waits for."""

    frame: Frame | None = None
    conditions: frozenset[object] = frozenset()


@dataclass(frozen=True)
class Frame:
    """A loop of frames, by name, and where it was entered."""

    name: str
    outside: Context


@dataclass(frozen=True, eq=False)
class _Outer:
    """All of many conditions; there is one of each."""

    conditions: frozenset[object]


@dataclass(frozen=True)
class Wiring:
    """Nodes in topological order, the context of each, and by node what it waits for besides.

    What comes out of a loop of frames may depend, by way of its back edges, on all that goes in: so
    a ``LoopCond``, which all that comes out waits for, waits for every ``Enter`` of its frame.
    """

    order: Sequence[Node]
    contexts: Sequence[Context]
    besides: Mapping[Node, Sequence[Node]] = field(default_factory=dict)

    def sources(self, node: Node) -> Iterator[Node]:
        """What a node waits for, back edges of loops left out."""
        merges = node.op in MERGES
        for source, _ in node.inputs:
            if not (merges and source.op in NEXT_ITERATIONS):
                yield source
        yield from node.controls
        if self.besides:
            yield from self.besides.get(node, ())


def wiring(nodes: Iterable[Node]) -> Wiring:
    """The wiring of a graph; raises ``GraphError`` (``graph-cycle``)."""
    order = topological_order(nodes)
    found = _contexts(order)
    besides: dict[Node, list[Node]] = {}
    entered: dict[Frame | None, list[Node]] = {}
    for node, context in zip(order, found, strict=True):
        if node.op in _ENTERS:
            entered.setdefault(context.frame, []).append(node)
    for node, context in zip(order, found, strict=True):
        if node.op == "LoopCond":
            besides[node] = entered.get(context.frame, [])
    if not besides:
        return Wiring(order, found)
    return _reordered(Wiring(order, found, besides))


def _reordered(wired: Wiring) -> Wiring:
    """The same in an order that has each node behind all that it waits for."""
    readers: dict[Node, list[Node]] = {}
    waiting: dict[Node, int] = {}
    for node in wired.order:
        before = list(wired.sources(node))
        waiting[node] = len(before)
        for source in before:
            readers.setdefault(source, []).append(node)
    ready = [node for node, count in waiting.items() if not count]
    for node in ready:
        for reader in readers.get(node, ()):
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    if len(ready) < len(wired.order):
        raise GraphError(
            "the graph has a loop that cannot be entered",
            check="what goes into a loop of frames must not come out of it",
            found=", ".join(node.name for node, count in waiting.items() if count)[:200],
            needed="loops that are entered from outside",
            remedy="the graph is corrupt: export the model again",
            code="graph-cycle",
        )
    context = dict(zip(wired.order, wired.contexts, strict=True))
    return Wiring(ready, [context[node] for node in ready], wired.besides)


def _contexts(order: Sequence[Node]) -> list[Context]:
    """The context of each node of a topological order; equal ones are the same object."""
    root = Context()
    if not any(node.op in CONTROL_FLOW or _is_received(node) for node in order):
        return [root] * len(order)
    found: dict[Node, Context] = {}
    known = {root: root}
    outer: dict[frozenset[object], _Outer] = {}
    for node in order:
        made = _context(node, found, root, outer)
        found[node] = known.setdefault(made, made)
    return [found[node] for node in order]


def _context(
    node: Node,
    found: dict[Node, Context],
    root: Context,
    outer: dict[frozenset[object], _Outer],
) -> Context:
    arriving = list(_arriving(node, found, root, outer))
    if _is_received(node):
        received = (node.op, node.attr(DEAD_WITH))
        frames = [c.frame for c in arriving]
        conditions = frozenset().union(*(c.conditions for c in arriving), {received})
        return Context(max(frames, key=_depth, default=None), conditions)
    if not arriving:
        return root
    if node.op in MERGES and not any(s.op in NEXT_ITERATIONS for s, _ in node.inputs):
        return _merged(node, arriving)
    first = arriving[0]
    if all(context is first for context in arriving):
        together = first
    else:
        frame = max((c.frame for c in arriving), key=_depth)
        together = Context(frame, frozenset().union(*(c.conditions for c in arriving)))
    if node.op in _ENTERS:
        name = str(node.attr("frame_name"))
        return Context(Frame(name, together), together.conditions)
    if node.op in _EXITS and together.frame is not None:
        return together.frame.outside
    return together


def _is_received(node: Node) -> bool:
    """Whether a node gives what another device sends, which may be dead."""
    return node.op == "_Recv" and node.states(DEAD_WITH)


def _arriving(
    node: Node,
    found: dict[Node, Context],
    root: Context,
    outer: dict[frozenset[object], _Outer],
) -> Iterator[Context]:
    """The contexts of a node's fan-in, one for each edge."""
    merges = node.op in MERGES
    for source, slot in node.inputs:
        if merges and source.op in NEXT_ITERATIONS:
            continue
        context = found.get(source, root)
        if source.op in SWITCHES and len(source.inputs) > 1:
            taken = (source.inputs[1], slot)
            conditions = context.conditions
            if len(conditions) >= _MOST:
                conditions = frozenset({outer.setdefault(conditions, _Outer(conditions))})
            context = Context(context.frame, conditions | {taken})
        yield context
    for source in node.controls:
        yield found.get(source, root)


def _merged(node: Node, arriving: Sequence[Context]) -> Context:
    """A Merge is alive where one input is: both sides of one Switch make it so in any case."""
    sides = [context.conditions for context in arriving]
    common = frozenset.intersection(*sides)
    rest = [side - common for side in sides]
    frame = max((c.frame for c in arriving), key=_depth)
    switched = len(rest) == 2 and all(len(side) == 1 for side in rest)
    if switched and {_split(side) for side in rest} == {(_split(rest[0])[0], k) for k in (0, 1)}:
        alone = next(iter(common)) if len(common) == 1 else None
        return Context(frame, alone.conditions if isinstance(alone, _Outer) else common)
    return Context(frame, common | {node})


def _split(side: frozenset[object]) -> tuple[object, object]:
    (one,) = side
    return one if isinstance(one, tuple) else (one, None)


def _depth(frame: Frame | None) -> int:
    depth = 0
    while frame is not None:
        depth, frame = depth + 1, frame.outside.frame
    return depth
