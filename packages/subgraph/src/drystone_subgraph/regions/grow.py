"""Growing regions: breadth first from every node, along the edges, never into a cycle.

Nodes are numbers here, in topological order. Regions of one pass are kept in an
:class:`AcyclicGraph` as joined nodes: a node is joined only where that closes no cycle, across all
regions that there are. A region that is given up in the end, or filtered, stays joined there, which
is the safe side: what remains of it is checked by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from drystone_base.core.time_limits import look
from drystone_base.graph import Node
from drystone_base.graph.acyclic import AcyclicGraph
from drystone_base.ops.properties import MERGES
from drystone_subgraph.contract.selector import NodeSelector, SubgraphSelector
from drystone_subgraph.regions.components import parts, whole_parts
from drystone_subgraph.regions.connected import largest_piece
from drystone_subgraph.regions.context import Wiring

__all__ = ["Field"]

_RETRIES: Final = 8
"""How often edges that would have closed a cycle are looked at again, as the region has grown."""

_ROUNDS: Final = 4
"""How often nodes that a filter dropped may begin regions of their own."""


class Field:
    """The nodes in which regions grow, and which of them are taken.

    ``fixed``: by number, why a node can be part of no region; "" where it can. ``placed``: all
    nodes run on one device.
    """

    def __init__(self, wired: Wiring, fixed: Sequence[str], placed: bool = False) -> None:
        order = wired.order
        self.placed = placed
        self.nodes, self.contexts, self.wired = order, wired.contexts, wired
        self.free = [not reason for reason in fixed]
        self.number = {node: k for k, node in enumerate(order)}
        self.taken: list[list[int]] = []
        self.reads = [self._read(node) for node in order]
        self._joined: AcyclicGraph | None = None

    @cached_property
    def readers(self) -> list[list[int]]:
        """By node, who reads it, ascending."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for k, sources in enumerate(self.reads):
            for source in sources:
                found[source].append(k)
        return found

    def _read(self, node: Node) -> list[int]:
        """Whom a node reads, each once."""
        known, inputs = self.number, node.inputs
        if len(inputs) == 1:
            source = inputs[0][0]
            return [known[source]] if source in known else []
        return list(dict.fromkeys([known[s] for s, _ in inputs if s in known]))

    @cached_property
    def sources(self) -> list[list[int]]:
        """By node, what it waits for, back edges of loops left out."""
        known, waits = self.number, self.wired.sources
        plain = not self.wired.besides
        return [
            read
            if plain and not node.controls and node.op not in MERGES
            else [known[s] for s in waits(node) if s in known]
            for node, read in zip(self.nodes, self.reads, strict=True)
        ]

    @cached_property
    def kinds(self) -> list[int]:
        """Nodes of one region have equal numbers here: those of one context and device."""
        devices = [""] * len(self.nodes) if self.placed else [node.device for node in self.nodes]
        keys = list(zip(map(id, self.contexts), devices, strict=True))
        known = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        return [known[key] for key in keys]

    @property
    def joined(self) -> AcyclicGraph:
        """The graph with what is taken, and what has grown in this pass, joined."""
        if self._joined is None:
            edges = ((source, k) for k, found in enumerate(self.sources) for source in found)
            self._joined = AcyclicGraph(len(self.nodes), edges)
            for region in self.taken:
                for member in region[1:]:
                    done = self._joined.contract(region[0], member)
                    assert done, "a region that was taken holds together"
        return self._joined

    def regions(self, selector: SubgraphSelector) -> Iterator[list[int]]:
        """Regions that the selector grows, each in ascending order; its nodes are no longer free.

        The caller says which it takes with :meth:`take`, and gives the others to :meth:`next_pass`.
        """
        seeds: Sequence[int] = range(len(self.nodes))
        if isinstance(selector, NodeSelector):
            wanted = selector.wanted(self.nodes)
            if wanted is not None:
                yield from self._parts(selector, wanted)
                return
        for _ in range(_ROUNDS):
            dropped: list[int] = []
            for seed in seeds:
                look()
                if self.free[seed] and (region := self._region(selector, seed, dropped)):
                    yield region
            if not dropped:
                return
            for k in dropped:
                self.free[k] = True
            self._joined = None  # what was dropped is joined with what it was dropped from
            if len(dropped) == len(seeds):
                return
            seeds = sorted(dropped)

    def _parts(self, selector: SubgraphSelector, wanted: Sequence[bool]) -> Iterator[list[int]]:
        """The regions of a selector that decides about each node by itself."""
        free = self.free
        chosen = [k for k, wants in enumerate(wanted) if wants and free[k]]
        root = parts(chosen, self.reads, self.kinds)
        whole = whole_parts(root, self.taken, self.sources)
        for seed in chosen:
            region = whole.get(seed)
            if region is not None:
                for k in region:
                    free[k] = False
                yield region
            elif root[seed] not in whole and free[seed]:
                yield self._region(selector, seed, [])
        if whole:
            self._joined = None  # they were not joined one by one

    def take(self, region: list[int]) -> None:
        """The region becomes an operator: its nodes are not free any more, for anyone."""
        self.taken.append(region)

    def next_pass(self, given_back: Sequence[int]) -> None:
        """Another selector begins; ``given_back``: nodes of regions that came to nothing."""
        for k in given_back:
            self.free[k] = True
        if given_back:
            self._joined = None

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
        piece = largest_piece(self.sources, grown, chosen)
        dropped.extend(set(grown).difference(piece))
        return piece


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
            look()
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
        if field.kinds[other] != field.kinds[self.seed]:
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
