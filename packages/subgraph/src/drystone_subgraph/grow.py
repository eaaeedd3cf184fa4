"""Growing regions: breadth first from every node, along the edges, never into a cycle.

Nodes are numbers here, in topological order. Regions of one pass are kept in an
:class:`AcyclicGraph` as joined nodes: a node is joined only where that closes no cycle, across all
regions that there are. A region that is given up in the end, or filtered, stays joined there, which
is the safe side: what remains of it is checked by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from drystone_base.graph.acyclic import AcyclicGraph
from drystone_subgraph.context import Wiring
from drystone_subgraph.pieces import largest_piece
from drystone_subgraph.selector import SubgraphSelector

__all__ = ["Field"]

_RETRIES: Final = 8
"""How often edges that would have closed a cycle are looked at again, as the region has grown."""

_ROUNDS: Final = 4
"""How often nodes that a filter dropped may begin regions of their own."""


class Field:
    """The nodes in which regions grow, and which of them are taken.

    ``fixed``: by number, why a node can be part of no region; "" where it can.
    """

    def __init__(self, wired: Wiring, fixed: Sequence[str]) -> None:
        order = wired.order
        self.nodes, self.contexts, self.wired = order, wired.contexts, wired
        self.free = [not reason for reason in fixed]
        number = {node: k for k, node in enumerate(order)}
        self.number = number
        self.reads: list[list[int]] = []
        self.readers: list[list[int]] = [[] for _ in order]
        for k, node in enumerate(order):
            data = dict.fromkeys(number[s] for s, _ in node.inputs if s in number)
            self.reads.append(list(data))
            for source in data:
                self.readers[source].append(k)
        self.taken: list[list[int]] = []
        self._begin()

    def _begin(self) -> None:
        """A fresh graph to join nodes in: only what is taken is joined."""
        number = self.number
        edges = (
            (number[source], k)
            for k, node in enumerate(self.nodes)
            for source in self.wired.sources(node)
            if source in number
        )
        self.joined = AcyclicGraph(len(self.nodes), edges)
        for region in self.taken:
            for member in region[1:]:
                done = self.joined.contract(region[0], member)
                assert done, "a region that was taken holds together"

    def regions(self, selector: SubgraphSelector) -> Iterator[list[int]]:
        """Regions that the selector grows, each in ascending order; its nodes are no longer free.

        The caller says which it takes with :meth:`take`, and gives the others to :meth:`next_pass`.
        """
        seeds: Sequence[int] = range(len(self.nodes))
        for _ in range(_ROUNDS):
            dropped: list[int] = []
            for seed in seeds:
                if self.free[seed] and (region := self._region(selector, seed, dropped)):
                    yield region
            if not dropped:
                return
            for k in dropped:
                self.free[k] = True
            self._begin()  # what was dropped is joined with what it was dropped from
            if len(dropped) == len(seeds):
                return
            seeds = sorted(dropped)

    def take(self, region: list[int]) -> None:
        """The region becomes an operator: its nodes are not free any more, for anyone."""
        self.taken.append(region)

    def next_pass(self, given_back: Sequence[int]) -> None:
        """Another selector begins; ``given_back``: nodes of regions that came to nothing."""
        for k in given_back:
            self.free[k] = True
        if given_back:
            self._begin()

    def _region(self, selector: SubgraphSelector, seed: int, dropped: list[int]) -> list[int]:
        selector.reset()
        if not selector.select(self.nodes[seed]):
            return []
        grown = sorted(_Growth(self, selector, seed).run())
        for k in grown:
            self.free[k] = False
        left = selector.filter([self.nodes[k] for k in grown])
        chosen = {self.number[node] for node in left}.intersection(grown)
        if len(chosen) == len(grown):
            return grown
        piece = largest_piece(self._edges, grown, chosen)
        dropped.extend(set(grown).difference(piece))
        return piece

    def _edges(self, k: int) -> list[int]:
        number = self.number
        return [number[s] for s in self.wired.sources(self.nodes[k]) if s in number]


class _Growth:
    """One region while it grows."""

    def __init__(self, field: Field, selector: SubgraphSelector, seed: int) -> None:
        self.field, self.selector = field, selector
        self.seed = seed
        self.members = {seed: None}
        self.queue = deque([seed])
        self.blocked: list[tuple[int, int, bool]] = []

    def run(self) -> list[int]:
        for _ in range(_RETRIES):
            self._spread()
            blocked, self.blocked = self.blocked, []
            size = len(self.members)
            for edge in blocked:
                self._offer(*edge)
            if len(self.members) == size:
                break
        return list(self.members)

    def _spread(self) -> None:
        field = self.field
        while self.queue:
            node = self.queue.popleft()
            for other in field.reads[node]:
                self._offer(node, other, True)
            for other in field.readers[node]:
                self._offer(node, other, False)

    def _offer(self, node: int, other: int, is_input: bool) -> None:
        """Let the selector decide about ``other``, a neighbour of ``node``, if it may come in."""
        field = self.field
        if other in self.members or not field.free[other]:
            return
        if field.contexts[other] is not field.contexts[self.seed]:
            return
        if field.nodes[other].device != field.nodes[self.seed].device:
            return
        joined, selector = field.joined, self.selector
        if selector.stateful and not joined.can_contract(self.seed, other):
            self.blocked.append((node, other, is_input))
            return
        ask = selector.select_input if is_input else selector.select_output
        if not ask(field.nodes[node], field.nodes[other]):
            return
        if joined.contract(self.seed, other):
            self.members[other] = None
            self.queue.append(other)
        else:
            self.blocked.append((node, other, is_input))
