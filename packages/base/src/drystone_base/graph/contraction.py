"""Regions of a graph that grow node by node, without a cycle between a region and the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from drystone_base.core.gc_pause import paused_gc
from drystone_base.graph.acyclic import AcyclicGraph
from drystone_base.graph.node import Node
from drystone_base.graph.topology import frame_paths, waits_for

__all__ = ["Contraction"]

_ENTERS: Final = frozenset({"Enter", "RefEnter"})
_EXITS: Final = frozenset({"Exit", "RefExit"})


class Contraction:
    """The nodes of a graph, of which any two may be joined as long as no cycle comes of it.

    Data and control edges count; so does, for every loop of frames, a path from each of its Enters
    to each of its Exits, because iterations connect all of them. Raises ``GraphError``
    (``graph-cycle``) for a graph that has a cycle already.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.frames = frame_paths(nodes)
        self.nodes = list(self.frames)
        self.numbers = {node: k for k, node in enumerate(self.nodes)}
        numbers = self.numbers
        edges = [
            (numbers[source], number)
            for node, number in numbers.items()
            for source in waits_for(node)
            if source in numbers
        ]
        with paused_gc():
            loops = sum(node.op in _ENTERS for node in self.nodes)
            self.graph = AcyclicGraph(len(self.nodes) + loops, edges)
        self._close_loops()

    def _close_loops(self) -> None:
        """Let every Exit wait for what stands for its loop, which waits for every Enter."""
        loops: dict[tuple[str, ...], int] = {}
        for node, number in self.numbers.items():
            if node.op in _ENTERS:
                path = self.frames[node]
                self.graph.add_edge(number, loops.setdefault(path, len(self.nodes) + len(loops)))
        for node, number in self.numbers.items():
            source = node.inputs[0][0] if node.inputs else node
            if node.op in _EXITS and self.frames[source] in loops:
                self.graph.add_edge(loops[self.frames[source]], number)

    def join(self, a: Node, b: Node) -> bool:
        """Put two nodes, with all that is joined to them, into one region; False: a cycle."""
        return self.graph.contract(self.numbers[a], self.numbers[b])

    def reaches(self, a: Node, b: Node) -> bool:
        """Whether ``b``'s region waits, however indirectly, for ``a``'s."""
        return self.graph.reaches(self.numbers[a], self.numbers[b])

    def region(self, node: Node) -> Node:
        """The node that stands for the region of ``node``."""
        return self.nodes[self.graph.find(self.numbers[node])]

    def regions(self) -> list[list[Node]]:
        """All regions in an order in which they can run, each with its nodes in such an order."""
        found = [[self.nodes[k] for k in g if k < len(self.nodes)] for g in self.graph.groups()]
        return [group for group in found if group]
