"""Libraries that a model carries: its nodes name them by paths from its folder."""

from __future__ import annotations

import os
from pathlib import Path

from drystone_base.files.access import LIBRARY_ATTRS
from drystone_base.graph import Function, Graph

__all__ = ["place_libraries"]


def place_libraries(graph: Graph, folder: Path) -> None:
    """Let nodes of the graph, and of its functions, name libraries where they are now."""
    for node in graph:
        attr = LIBRARY_ATTRS.get(node.op)
        if attr is not None:
            graph.set_attr(node, attr, _placed(node.attrs.get(attr, ""), folder))
    for function in list(graph.functions):
        if LIBRARY_ATTRS.keys().isdisjoint(function.ops()):
            continue
        proto = type(function.proto)()
        proto.CopyFrom(function.proto)
        for part in proto.node_def:
            attr = LIBRARY_ATTRS.get(part.op)
            if attr is not None:
                part.attr[attr].s = os.fsencode(_placed(part.attr[attr].s, folder))
        graph.functions.add(Function(proto), replace=True)


def _placed(path: str | bytes, folder: Path) -> str:
    return os.path.join(os.path.abspath(folder), os.fsdecode(path))
