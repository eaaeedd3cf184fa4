"""When a value is there: what must be chosen for a node to run, as predicates that can be compared.

Two nodes with equal predicates are always dead together. The predicate of a node is a set of
conditions that must all hold: sides of Switches, alternatives that come together at a Merge that
is no plain end of a branch, and rounds of loops. Of branches nested deeper than 64 the outer sides
are one condition together, so that predicates, and what is done with them, stay small.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from drystone_base.graph.node import Node, Output
from drystone_base.graph.topology import DEAD_WITH, frame_paths
from drystone_base.ops.properties import MERGES, NEXT_ITERATIONS, SWITCHES

__all__ = ["ALIVE", "Deadness", "Either", "Nested", "Predicate", "Received", "Round", "Side"]


@dataclass(frozen=True)
class Side:
    """Side ``index`` of ``count`` of a Switch on ``choice`` is taken."""

    choice: Output
    index: int
    count: int


@dataclass(frozen=True)
class Round:
    """A round of the loop ``path`` has begun; ``variable``: and its value came round (None: all).

    Values of one loop whose rounds have no ``variable`` are there in the same rounds.
    """

    path: tuple[str, ...]
    variable: Node | None = None


@dataclass(frozen=True)
class Either:
    """One of several predicates holds."""

    of: frozenset[frozenset[Any]]


@dataclass(frozen=True)
class Received:
    """What another device sends in the loop ``path`` is alive; values of one ``group`` together."""

    path: tuple[str, ...]
    group: str


@dataclass(frozen=True, eq=False)
class Nested:
    """Many sides of branches in the loop ``path`` are taken, and those of ``outer``.

    There is one of each, so that they are told apart without looking into them.
    """

    path: tuple[str, ...]
    sides: frozenset[Side]
    outer: Nested | None

    def holds(self, part: object) -> bool:
        """Whether a part is one of them; of the outermost ones nothing is said."""
        inner: Nested | None = self
        for _ in range(_LOOKS):
            if inner is None or part is inner.outer or part in inner.sides:
                return inner is not None
            inner = inner.outer
        return False


_Path: TypeAlias = tuple[str, ...]
Predicate: TypeAlias = "frozenset[Side | Round | Either | Received | Nested]"
"""All of it must hold."""
ALIVE: Final[Predicate] = frozenset()
_MOST: Final = 64
"""Parts of a predicate, beyond which sides of branches are put together."""
_LOOKS: Final = 8
"""How many times that many sides are looked through for one."""


class Deadness:
    """The predicates of nodes and of their outputs. Raises ``GraphError`` (``graph-cycle``)."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.frames = frame_paths(nodes)
        self._found: dict[Node, Predicate] = {}
        self._alone: set[Node] = set()
        self._kept: dict[Predicate, Predicate] = {}
        self._short: dict[Predicate, Predicate] = {}
        self._long: dict[Predicate, Predicate] = {}
        self._nested: dict[tuple[_Path, frozenset[Side], Nested | None], Nested] = {}
        self._goes = {self.frames[n]: n for n in self.frames if n.op == "LoopCond"}
        self._settle()

    def of(self, node: Node) -> Predicate:
        """When the node runs."""
        return self._found[node]

    def of_output(self, output: Output) -> Predicate:
        """When an output has a value."""
        node, index = output
        found = self._found.get(node, ALIVE)
        if node.op not in SWITCHES:
            return found
        return self._keep(_together([self._shortened(found), frozenset({side_of(node, index)})]))

    def add(self, node: Node, found: Predicate, path: tuple[str, ...]) -> None:
        """Say of a node that is new when it runs, and in which loop."""
        self.frames[node] = path
        self._found[node] = self._keep(found)

    # ---- how -------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """First believe that all values of a loop come round together; then those that do not."""
        while True:
            self._found.clear()
            for node in self.frames:
                self._found[node] = self._keep(self._work_out(node))
            wrong = {node for node in self.frames if self._does_not_come_round(node)}
            if wrong <= self._alone:
                return
            self._alone |= wrong

    def _keep(self, found: Predicate) -> Predicate:
        return self._kept.setdefault(found, found)

    def _work_out(self, node: Node) -> Predicate:
        if node.op in MERGES:
            return self._merge(node)
        if node.op == "ControlTrigger":
            return self._trigger(node)
        found = _together(
            [*map(self.of_output, node.inputs), *(self._found.get(c, ALIVE) for c in node.controls)]
        )
        if node.op == "_Recv" and node.states(DEAD_WITH):
            return found | {Received(self.frames[node], str(node.attr(DEAD_WITH)))}
        if node.op in ("Exit", "RefExit"):
            return self._outside(node, found)
        return found

    def _merge(self, node: Node) -> Predicate:
        entering = [self.of_output(o) for o in node.inputs if o[0].op not in NEXT_ITERATIONS]
        found = either(entering)
        found = self._long.get(found, found)
        if len(entering) == len(node.inputs):
            return found
        return found | {Round(self.frames[node], node if node in self._alone else None)}

    def _trigger(self, node: Node) -> Predicate:
        """It runs in every round, even where all that it waits for is dead."""
        waited = [self._found.get(c, ALIVE) for c in node.controls]
        found = frozenset.intersection(*waited) if waited else ALIVE
        return frozenset(part for part in found if isinstance(part, Round))

    def _does_not_come_round(self, node: Node) -> bool:
        """Whether a loop's value may be dead in a round that the loop makes."""
        back = [o[0] for o in node.inputs if o[0].op in NEXT_ITERATIONS]
        if node.op not in MERGES or not back:
            return False
        path = self.frames[node]
        if not self._is_there_when_going_on(self._found[node], path):
            return True
        for source in back:
            for side in self._found.get(source, ALIVE):
                if _follows(side, self._found[node]):
                    continue
                if not isinstance(side, Side) or self.frames.get(side.choice[0]) != path:
                    return True
                if side.choice[0].op != "LoopCond":
                    return True
        return False

    def _is_there_when_going_on(self, found: Predicate, path: tuple[str, ...]) -> bool:
        """Whether what depends on what enters the loop ``path`` is there whenever that goes round.

        What enters dead does not come again, and what waits for it does not even die.
        """
        condition = self._goes.get(path)
        going = ALIVE if condition is None else self._found.get(condition, ALIVE)
        return all(_follows(part, going) for part in found if not self._is_in(part, path))

    def _outside(self, leaving: Node, found: Predicate) -> Predicate:
        """What is left of an Exit's predicate outside of its loop."""
        path = self.frames.get(leaving.inputs[0][0], ())
        outside = frozenset(p for p in found if not self._is_in(p, path))
        if any(self.frames[node] == path for node in self._alone):
            return found  # nothing is known
        if not self._is_there_when_going_on(outside, path):
            return outside | {Round(path, leaving)}
        return outside

    def _is_in(self, part: Side | Round | Either | Received | Nested, path: _Path) -> bool:
        if isinstance(part, Either):
            return any(self._is_in(p, path) for parts in part.of for p in parts)
        own = self.frames.get(part.choice[0], ()) if isinstance(part, Side) else part.path
        return own[: len(path)] == path

    def _shortened(self, found: Predicate) -> Predicate:
        """The same with all sides of branches of one loop as one part, where there are many."""
        if len(found) < _MOST:
            return found
        known = self._short.get(found)
        if known is None:
            known = self._short[found] = self._keep(self._put_together(found))
            self._long.setdefault(known, found)
        return known

    def _put_together(self, found: Predicate) -> Predicate:
        sides: dict[_Path, set[Side]] = {}
        outer: dict[_Path, list[Nested]] = {}
        for part in found:
            if isinstance(part, Nested):
                outer.setdefault(part.path, []).append(part)
            elif isinstance(part, Side) and part.choice[0].op != "LoopCond":
                sides.setdefault(self.frames.get(part.choice[0], ()), set()).add(part)
        left = set(found)
        for path, of in sides.items():
            around = outer.get(path, [None])
            if len(of) > 1 and len(around) == 1:
                left.difference_update(of, around)
                key = (path, frozenset(of), around[0])
                left.add(self._nested.setdefault(key, Nested(*key)))
        return frozenset(left)


def side_of(node: Node, index: int) -> Side:
    """What must be chosen for output ``index`` of a Switch."""
    count = 2 if node.op != "_SwitchN" else int(node.attr("num_outs"))
    return Side(_origin(node.inputs[1]), index, count)


def _origin(output: Output) -> Output:
    while output[0].op == "Identity" and not output[0].controls:
        output = output[0].inputs[0]
    return output


def _together(found: list[Predicate]) -> Predicate:
    """All of the predicates hold; what others of their parts imply is left out."""
    different = list(dict.fromkeys(filter(None, found)))
    out = ALIVE.union(*different)
    if len(different) < 2:
        return out
    implied = {
        part
        for one in different
        for nested in one
        if isinstance(nested, Nested)
        for other in different
        if other is not one
        for part in other
        if nested.holds(part)
    }
    return out - implied


def _follows(part: object, found: Predicate) -> bool:
    """Whether a part holds where all of a predicate does."""
    if part in found or any(isinstance(p, Nested) and p.holds(part) for p in found):
        return True
    return isinstance(part, Nested) and part.sides <= found and part.outer in (None, *found)


def either(found: list[Predicate]) -> Predicate:
    """One of the predicates holds; all sides of one choice together are no condition."""
    if not found:
        return ALIVE
    shared = frozenset.intersection(*found)
    rest = {p - shared for p in found}
    if ALIVE in rest:
        return shared
    singles = [next(iter(p)) for p in rest if len(p) == 1]
    sides = [s for s in singles if isinstance(s, Side)]
    is_one_choice = len(sides) == len(rest) and len({s.choice for s in sides}) == 1
    if is_one_choice and {s.index for s in sides} == set(range(sides[0].count)):
        return shared
    return shared | _any(rest)


def _any(found: set[Predicate]) -> Predicate:
    return frozenset({Either(frozenset(found))})
