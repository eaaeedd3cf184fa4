"""Bodies of functions: each that a graph reaches is partitioned once, as a graph of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from drystone_base.errors import DrystoneError
from drystone_base.graph import Function, Graph, body_to_function
from drystone_base.graph.calls import BACKEND_ATTR, reachable_functions

if TYPE_CHECKING:
    from drystone_subgraph.backend import SubgraphBackend
    from drystone_subgraph.config import PartitionConfig
    from drystone_subgraph.report import PartitionReport

__all__ = ["with_bodies"]

_LEFT: Final = ("_XlaMustCompile", "_tf_data_function", "api_implements")


def with_bodies(
    graph: Graph,
    backends: Sequence[SubgraphBackend],
    config: PartitionConfig,
    report: PartitionReport,
) -> bool:
    """Partition the bodies that ``graph`` reaches, in its library; whether one changed.

    Left alone are the regions that were just cut out, functions whose attributes are filled in by
    their callers, and bodies of datasets and of gradients.
    """
    made = {node.attrs["f"].name for node in graph if node.states(BACKEND_ATTR)}
    changed = False
    for function in reachable_functions(graph, made):
        if _one(graph, function, backends, config, report):
            changed = True
    return changed


def _one(
    graph: Graph,
    function: Function,
    backends: Sequence[SubgraphBackend],
    config: PartitionConfig,
    report: PartitionReport,
) -> bool:
    from drystone_subgraph.partitioner import Partitioning

    if function.signature.attrs or any(function.attr(name) for name in _LEFT):
        return False
    try:
        body = function.body(graph.functions)
    except DrystoneError:
        return False  # a body that does not hang together is reported when it is called
    work = Partitioning(body.graph, function.name, backends, config, report)
    named = {body.graph[name] for name in function.proto.control_ret.values()}
    if not work.run(named, ()):
        return False
    graph.functions.add(body_to_function(body, function.proto), replace=True)
    return True
