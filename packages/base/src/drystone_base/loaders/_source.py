"""A graph that is read when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from drystone_base.files.mapped import MappedFile, file_changed

if TYPE_CHECKING:
    from drystone_base.graph import Graph
    from drystone_base.loaders._graph_file import GraphFile

__all__ = ["GraphSource"]


class GraphSource:
    """Where a session's graph is from.

    ``file`` is None where that is not one file alone, or other code has the graph, who may
    have edited it: then nothing that was made of the file's bytes stands for the graph. ``data``:
    the bytes that the graph is read from, where those are a mapped file's, and its constants.
    """

    __slots__ = ("_file", "_graph", "_handed_out", "_lock", "_mapped", "_read")

    def __init__(
        self,
        read: Callable[[], Graph],
        file: GraphFile | None = None,
        data: memoryview | None = None,
    ) -> None:
        owner = None if data is None else data.obj
        self._read = read
        self._file = file
        self._mapped = owner if isinstance(owner, MappedFile) else None
        self._graph: Graph | None = None
        self._handed_out = False
        self._lock = threading.Lock()

    @classmethod
    def of(
        cls, graph: Graph, file: GraphFile | None = None, data: memoryview | None = None
    ) -> GraphSource:
        """The source of a graph that is there."""
        source = cls(lambda: graph, file, data)
        if data is None:
            source._graph = graph
        return source

    def __repr__(self) -> str:
        return "a graph not read yet" if self._graph is None else repr(self._graph)

    @property
    def file(self) -> GraphFile | None:
        """The file that says all there is to know of the graph."""
        return None if self._handed_out else self._file

    def graph(self) -> Graph:
        """The graph, for who does not edit it; raises as reading it does, and as ``check``."""
        with self._lock:
            if self._graph is None:
                self.check()
                self._graph = self._read()
            return self._graph

    def check(self) -> None:
        """Raise ``BadModelFile`` (``file-changed``) where its file is seen to hold another one."""
        mapped = self._mapped
        if mapped is None or mapped.is_untouched():
            return
        if not mapped.is_whole() or not (self._file is None or self._file.has_same_bytes()):
            raise file_changed(f"other contents than the {len(mapped)} bytes that were loaded")

    def hand_out(self) -> Graph:
        """The graph, for who may edit it."""
        self._handed_out = True
        return self.graph()
