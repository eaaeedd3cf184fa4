"""The part of a graph that a run needs: what is fed is cut off from what it was computed from."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from drystone_base.core.dtypes import DType
from drystone_base.graph import Graph, Node, Output, needed_nodes
from drystone_base.graph.rewiring import replace
from drystone_base.graph.validate import output_dtypes

__all__ = ["needed_part"]


def needed_part(
    graph: Graph, fetches: Iterable[Output], fed: Collection[Output]
) -> tuple[Graph, set[Node]]:
    """A copy with the nodes that a run needs, and those that are fed; which of it do not run.

    A node of which all is fed becomes a ``Placeholder``. One of several outputs cannot: it stays,
    with what it is computed from, where it does not run, either.
    """
    wanted = [output[0] for output in fetches if output not in fed]
    needed = needed_nodes(wanted, fed)
    idle = {node for node, _ in fed if node not in needed}
    found = {node: output_dtypes(node) for node in idle if node.inputs or node.controls}
    ends = {node: dtypes[0] for node, dtypes in found.items() if dtypes and len(dtypes) == 1}
    kept = needed | needed_nodes(idle.difference(ends), fed)
    twin = graph.copy(only=kept.keys() | ends.keys(), ends=ends.keys())
    for node, dtype in ends.items():
        _become_placeholder(twin[node.name], dtype)
    return twin, {twin[node.name] for node in kept.keys() - needed.keys()}


def _become_placeholder(node: Node, dtype: DType) -> None:
    """What it computes is not known, not even its shape, unless it was a placeholder."""
    attrs = {"dtype": dtype.base}
    if node.op.startswith("Placeholder") and node.states("shape"):
        attrs["shape"] = node.attrs["shape"]
    replace(node.graph, node, "Placeholder", (), attrs)
