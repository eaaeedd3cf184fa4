"""Contracting a graph without ever making a cycle: an order that is kept while nodes are joined.

The order is a list of labels with gaps. A question "does a path lead from a to b" searches from
both ends at once, only between the two labels, and stops as soon as the smaller side is known; a
contraction then moves that smaller side past the joined node. Long chains and wide fans so cost
next to nothing a node, whatever their order.

Where there are many long ways between nodes, both ends of a search grow until they meet. So when
searches have cost as much as a few looks at the whole graph, a forest of paths is laid out, which
tells at once of most paths that there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from drystone_base.graph._forest import Forest
from drystone_base.graph._ordered_list import OrderedList

__all__ = ["AcyclicGraph"]

_AHEAD: Final = 0
_BACK: Final = 1
_PATIENCE: Final = 4
"""How much work a node searches may take until the forest is laid out again."""


class AcyclicGraph:
    """Nodes 0, 1, ... with edges, of which any two may be joined as long as no cycle comes of it.

    ``order``: all nodes, each before those that its edges lead to (default: they are numbered so).
    Repeated edges count once. Raises ``ValueError`` for an edge against the order.
    """

    def __init__(
        self, count: int, edges: Iterable[tuple[int, int]], order: Iterable[int] | None = None
    ) -> None:
        self._order = OrderedList(range(count) if order is None else order, count)
        self._joined = list(range(count))
        self._edges: tuple[list[list[int]], list[list[int]]] = (
            [[] for _ in range(count)],
            [[] for _ in range(count)],
        )
        self._mixed = (bytearray([True]) * count, bytearray([True]) * count)  # may name one twice
        self._forest = Forest(count, {})
        self._work = 0
        ahead, back = self._edges
        labels = self._order.labels
        for a, b in edges:
            if labels[a] >= labels[b]:
                raise ValueError(f"edge {a} -> {b} goes against the order")
            ahead[a].append(b)
            back[b].append(a)

    def find(self, node: int) -> int:
        """The node that ``node`` is now part of."""
        joined = self._joined
        while joined[node] != node:
            joined[node] = joined[joined[node]]
            node = joined[node]
        return node

    def order(self) -> Iterator[int]:
        """The nodes that are left, each before those that its edges lead to."""
        return iter(self._order)

    def groups(self) -> list[list[int]]:
        """For each node that is left, in order, the first nodes that it is made of, ascending."""
        found: dict[int, list[int]] = {node: [] for node in self._order}
        for node in range(len(self._joined)):
            found[self.find(node)].append(node)
        return list(found.values())

    def reaches(self, a: int, b: int) -> bool:
        """Whether a path leads from ``a`` to ``b``, which may be one node."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return True
        if self._order.labels[a] > self._order.labels[b]:
            return False
        return self._has_edge(a, b) or self._between(a, b) is None

    def add_edge(self, a: int, b: int) -> bool:
        """Add an edge; False, and nothing changed, where it would close a cycle."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        labels = self._order.labels
        if labels[a] > labels[b]:
            found = None if self._has_edge(b, a) else self._between(b, a)
            if found is None:
                return False
            side, moved = found
            if side == _AHEAD:
                self._order.move_after(a, [b, *self._sorted(moved)])
            else:
                self._order.move_before(b, [*self._sorted(moved), a])
        self._edges[_AHEAD][a].append(b)
        self._edges[_BACK][b].append(a)
        self._mixed[_AHEAD][a] = self._mixed[_BACK][b] = True
        return True

    def can_contract(self, a: int, b: int) -> bool:
        """Whether :meth:`contract` would succeed."""
        a, b = self.find(a), self.find(b)
        return a == b or self._between(*self._in_order(a, b)) is not None

    def contract(self, a: int, b: int) -> bool:
        """Make one node of two, with or without an edge between them.

        False, and nothing changed, where a path leads from one to the other through a third.
        """
        a, b = self.find(a), self.find(b)
        if a == b:
            return True
        first, last = self._in_order(a, b)
        found = self._between(first, last)
        if found is None:
            return False
        side, moved = found
        if side == _AHEAD:
            self._order.move_after(last, self._sorted(moved))
            self._join(last, first)
        else:
            self._order.move_before(first, self._sorted(moved))
            self._join(first, last)
        return True

    # ---- how -------------------------------------------------------------------------------------

    def _in_order(self, a: int, b: int) -> tuple[int, int]:
        return (a, b) if self._order.labels[a] < self._order.labels[b] else (b, a)

    def _sorted(self, nodes: Iterable[int]) -> list[int]:
        return sorted(nodes, key=self._order.labels.__getitem__)

    def _has_edge(self, a: int, b: int) -> bool:
        if len(self._edges[_AHEAD][a]) < len(self._edges[_BACK][b]):
            return b in self._neighbours(_AHEAD, a)
        return a in self._neighbours(_BACK, b)

    def _neighbours(self, side: int, node: int) -> list[int]:
        """The nodes at the other ends of a node's edges; joined ones are dropped on the way."""
        edges = self._edges[side]
        listed = edges[node]
        joined = self._joined
        if self._mixed[side][node] or [joined[k] for k in listed] != listed:
            kept = dict.fromkeys(map(self.find, listed))
            kept.pop(node, None)
            listed = edges[node] = list(kept)
            self._mixed[side][node] = False
        return listed

    def _between(self, first: int, last: int) -> tuple[int, set[int]] | None:
        """All nodes between two labels that one of the two leads to, or that lead to the other.

        Gives the side whose set was complete first; None when a path goes through a third node.
        """
        ahead, back = self._edges
        if back[last] == [first]:
            return _BACK, set()
        leads = self._known().leads
        labels = self._order.labels
        low, high = labels[first], labels[last]
        seen: tuple[set[int], set[int]] = (set(), set())
        todo = ([first], [last])
        work = [0, 0]
        while todo[_AHEAD] and todo[_BACK]:
            on = work[_AHEAD] + len(ahead[todo[_AHEAD][-1]])
            up = work[_BACK] + len(back[todo[_BACK][-1]])
            side = _AHEAD if on < up else _BACK
            work[side] = min(on, up) + 1
            node = todo[side].pop()
            self._work += 1
            own, others = seen[side], seen[1 - side]
            end = last if side == _AHEAD else first
            for other in self._neighbours(side, node):
                if other == end:
                    if node != first and node != last:
                        return None
                elif low < labels[other] < high and other not in own:
                    is_path = leads(other, last) if side == _AHEAD else leads(first, other)
                    if is_path or other in others:
                        return None
                    own.add(other)
                    todo[side].append(other)
        side = _BACK if not todo[_BACK] else _AHEAD
        return side, seen[side]

    def _known(self) -> Forest:
        """Paths along the edge into each node that comes from nearest: those are long."""
        if self._work > _PATIENCE * len(self._joined):
            near, back = self._order.labels.__getitem__, partial(self._neighbours, _BACK)
            above = {node: max(back(node), key=near, default=-1) for node in self._order}
            self._forest, self._work = Forest(len(self._joined), above), 0
        return self._forest

    def _join(self, kept: int, gone: int) -> None:
        """``gone`` becomes part of the node at the place of ``kept``."""
        ahead, back = self._edges
        size = len(ahead[kept]) + len(back[kept])
        if size < len(ahead[gone]) + len(back[gone]):
            self._order.take_place(gone, kept)
            kept, gone = gone, kept
        else:
            self._order.remove(gone)
        self._joined[gone] = kept
        self._forest.join(kept, gone)
        for edges in (ahead, back):
            edges[kept] += edges[gone]
            edges[gone] = []
        self._mixed[_AHEAD][kept] = self._mixed[_BACK][kept] = True
