"""Bodies of functions: each that a graph reaches is partitioned once, as a graph of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from drystone_base.graph import Body, Function, FunctionLibrary, Graph, body_to_function
from drystone_base.graph.calls import BACKEND_ATTR, called_by_proto, reachable_bodies

if TYPE_CHECKING:
    from drystone_subgraph.contract.backend import SubgraphBackend
    from drystone_subgraph.contract.config import PartitionConfig
    from drystone_subgraph.regions.report import PartitionReport

__all__ = ["with_bodies"]


def with_bodies(
    graph: Graph,
    backends: Sequence[SubgraphBackend],
    config: PartitionConfig,
    report: PartitionReport,
    placed: bool,
) -> bool:
    """Partition the bodies that ``graph`` reaches, in its library; whether one changed.

    Left alone are the regions that were just cut out and all that they call, which their backends
    take whole, functions whose attributes are filled in by their callers, and bodies of datasets
    and of gradients.
    """
    made = _regions(graph)
    library, whole = graph.functions, _with_called(made, graph.functions)
    before: dict[str, Function] = {}
    for function, body in reachable_bodies(graph, made):
        if function.name in whole:
            continue
        if not _one(graph, function, body, backends, config, report, placed):
            continue
        before[function.name] = function
        whole |= _with_called(_regions(body.graph), library)
        for name in before.keys() & whole:  # a region calls what was partitioned before it
            library.add(before.pop(name), replace=True)
            report.forget(name)
    return bool(before)


def _regions(graph: Graph) -> set[str]:
    """The functions of the regions that were cut out of a graph."""
    return {node.attrs["f"].name for node in graph if node.states(BACKEND_ATTR)}


def _with_called(names: Iterable[str], library: FunctionLibrary) -> set[str]:
    """Functions, and all that they call."""
    found: set[str] = set()
    queue = list(names)
    for name in queue:
        function = library.get(name)
        if function is None or name in found:
            continue
        found.add(name)
        for proto in function.proto.node_def:
            queue.extend(called_by_proto(proto, library))
    return found


def _one(
    graph: Graph,
    function: Function,
    body: Body,
    backends: Sequence[SubgraphBackend],
    config: PartitionConfig,
    report: PartitionReport,
    placed: bool,
) -> bool:
    from drystone_subgraph.regions.partitioner import Partitioning

    work = Partitioning(body.graph, function.name, backends, config, report, placed)
    named = {body.graph[name] for name in function.proto.control_ret.values()}
    if not work.run(named, ()):
        return False
    graph.functions.add(body_to_function(body, function.proto), replace=True)
    return True
