"""Libraries of compiled functions that nodes name: a session says which may be opened."""

from __future__ import annotations

import os
from collections.abc import Iterator

from drystone_base.files.access import LIBRARY_ATTRS, Access
from drystone_base.graph import Graph
from drystone_base.ops.defs import find

__all__ = ["check_libraries"]


def check_libraries(graph: Graph, access: Access) -> bool:
    """Whether nodes of the graph, or of its functions, open libraries.

    Raises ``KernelError`` (``access-denied``) for one that ``access`` does not open.
    """
    attrs = {op: attr for op, attr in LIBRARY_ATTRS.items() if find(op) is not None}
    opens = False
    for name, op, path in _named(graph, attrs) if attrs else ():
        access.check_library(name, op, path)
        opens = True
    return opens


def _named(graph: Graph, attrs: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for node in graph:
        if node.op in attrs:
            yield node.name, node.op, os.fsdecode(node.attrs.get(attrs[node.op], ""))
    for function in graph.functions:
        for proto in function.proto.node_def if not attrs.keys().isdisjoint(function.ops()) else ():
            if proto.op in attrs:
                yield proto.name, proto.op, os.fsdecode(proto.attr[attrs[proto.op]].s)
