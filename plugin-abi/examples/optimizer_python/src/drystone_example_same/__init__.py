"""A graph optimizer: the maximum, minimum, or conjunction of a value and itself is the value.

    Maximum(x, x)   becomes   Identity(x)

The node keeps its name, its device and its control inputs, so it does not matter whether it is
fetched, fed or to be preserved, and the values are the same to the last bit.
"""

from __future__ import annotations

from drystone_base import Graph, as_dtype

__all__ = ["optimize"]

SAME = {
    **dict.fromkeys(("Maximum", "Minimum", "BitwiseAnd", "BitwiseOr"), "T"),
    **dict.fromkeys(("LogicalAnd", "LogicalOr"), None),
}
"""Ops for which f(x, x) is x, and the attribute with their dtype (None: it is always bool)."""


class _Optimize:
    """What the entry point names: called with a graph, for graphs with a node on the CPU."""

    takes = "graph"
    device_type = "CPU"
    phase = "end"

    def __call__(self, graph: Graph) -> Graph:
        for node in list(graph):
            if node.op not in SAME or len(node.inputs) != 2 or node.inputs[0] != node.inputs[1]:
                continue
            source, attr = node.inputs[0], SAME[node.op]
            dtype = node.attrs[attr] if attr else as_dtype("bool")
            graph.set_op(node, "Identity")
            graph.set_inputs(node, [source])
            graph.set_attr(node, "T", dtype)
        return graph


optimize = _Optimize()
