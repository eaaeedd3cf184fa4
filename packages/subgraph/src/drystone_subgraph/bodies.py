"""Bodies of functions: each that a graph reaches is partitioned once, as a graph of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drystone_base.graph import Body, Function, Graph, body_to_function
from drystone_base.graph.calls import BACKEND_ATTR, reachable_bodies

if TYPE_CHECKING:
    from drystone_subgraph.backend import SubgraphBackend
    from drystone_subgraph.config import PartitionConfig
    from drystone_subgraph.report import PartitionReport

__all__ = ["with_bodies"]


def with_bodies(
    graph: Graph,
    backends: Sequence[SubgraphBackend],
    config: PartitionConfig,
    report: PartitionReport,
    placed: bool,
) -> bool:
    """Partition the bodies that ``graph`` reaches, in its library; whether one changed.

    Left alone are the regions that were just cut out, functions whose attributes are filled in by
    their callers, and bodies of datasets and of gradients.
    """
    made = {node.attrs["f"].name for node in graph if node.states(BACKEND_ATTR)}
    changed = False
    for function, body in reachable_bodies(graph, made):
        if _one(graph, function, body, backends, config, report, placed):
            changed = True
    return changed


def _one(
    graph: Graph,
    function: Function,
    body: Body,
    backends: Sequence[SubgraphBackend],
    config: PartitionConfig,
    report: PartitionReport,
    placed: bool,
) -> bool:
    from drystone_subgraph.partitioner import Partitioning

    work = Partitioning(body.graph, function.name, backends, config, report, placed)
    named = {body.graph[name] for name in function.proto.control_ret.values()}
    if not work.run(named, ()):
        return False
    graph.functions.add(body_to_function(body, function.proto), replace=True)
    return True
