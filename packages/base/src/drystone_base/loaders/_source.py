"""A graph that is read when somebody first needs it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drystone_base.graph import Graph
    from drystone_base.loaders._graph_file import GraphFile

__all__ = ["GraphSource"]


class GraphSource:
    """Where a session's graph is from.

    ``file`` is None where that is not one file alone, or somebody outside has the graph, who may
    have edited it: then nothing that was made of the file's bytes stands for the graph.
    """

    __slots__ = ("_file", "_graph", "_handed_out", "_lock", "_read")

    def __init__(self, read: Callable[[], Graph], file: GraphFile | None = None) -> None:
        self._read = read
        self._file = file
        self._graph: Graph | None = None
        self._handed_out = False
        self._lock = threading.Lock()

    @classmethod
    def of(cls, graph: Graph, file: GraphFile | None = None) -> GraphSource:
        """The source of a graph that is there."""
        return cls(lambda: graph, file)

    @property
    def file(self) -> GraphFile | None:
        """The file that says all there is to know of the graph."""
        return None if self._handed_out else self._file

    def graph(self) -> Graph:
        """The graph, for who does not edit it; raises as reading it does."""
        with self._lock:
            if self._graph is None:
                self._graph = self._read()
            return self._graph

    def hand_out(self) -> Graph:
        """The graph, for who may edit it."""
        self._handed_out = True
        return self.graph()
