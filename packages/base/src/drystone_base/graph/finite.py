"""Nodes that look for NaN and infinities behind each node that gives floats."""

from __future__ import annotations

from typing import Final

from drystone_base.core.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from drystone_base.graph.builder import Builder
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node
from drystone_base.graph.topology import waits_for
from drystone_base.graph.validate import output_dtypes

__all__ = ["check_finite"]

_KINDS: Final = frozenset({BFLOAT16, FLOAT16, FLOAT32, FLOAT64})


def check_finite(graph: Graph) -> None:
    """Let all that reads floats of a node read them behind a ``CheckNumerics`` that names it.

    Nodes are looked at in the order in which they were made, so that a fault is told before what
    comes of it. Functions of the library are not looked into: the node that calls one is named.
    """
    b = Builder(graph, "finite")
    last: list[Node] = []
    for node in _as_made(graph):
        read = {k for user in graph.users(node) for source, k in user.inputs if source is node}
        kinds = output_dtypes(node) or []
        for k in sorted(read):
            if kinds[k] in _KINDS:
                what = f"output {k} of node {node.name!r} ({node.op})"
                check = b.node("CheckNumerics", (node, k), message=what, controls=last)
                graph.redirect((node, k), (check, 0))
                graph.set_inputs(check, [(node, k)])
                last = [check]


def _as_made(graph: Graph) -> list[Node]:
    """All nodes, each behind what it waits for, and else in the order of the graph."""
    order: dict[Node, None] = {}
    seen: set[Node] = set()
    for root in list(graph):
        stack = [root]
        while stack:
            node = stack[-1]
            before = [] if node in seen else [n for n in waits_for(node) if n not in seen]
            seen.add(node)
            stack += reversed(before)
            if not before:
                order.setdefault(stack.pop())
    return list(order)
