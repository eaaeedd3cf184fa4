"""The step of a session that gives regions of its graphs to backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from drystone_base.core.errors import BadRequest
from drystone_base.graph import parse_tensor_name
from drystone_base.graph.calls import BACKEND_ATTR
from drystone_base.modules import stage

if TYPE_CHECKING:
    from drystone_base.graph import Graph
    from drystone_base.placement.partitions import Partitions

__all__ = ["check_backend", "fuse_parts", "has_operators", "partition_parts"]


def check_backend(name: str) -> None:
    """Raise ``BadRequest`` unless there is a backend of that name.

    With the codes ``unknown-subgraph-backend`` and ``no-subgraph-module``.
    """
    found = stage("backend")
    if not found:
        raise _not_installed(name)
    for check in found:
        check(name)


def has_operators(parts: Partitions) -> bool:
    """Whether passes left calls of functions that are a backend's, in graphs or in functions."""
    graphs = list(parts.graphs.values())
    if any(node.states(BACKEND_ATTR) for graph in graphs for node in graph):
        return True
    functions = (f for graph in graphs[:1] for f in graph.functions)
    return any(BACKEND_ATTR in proto.attr for f in functions for proto in f.proto.node_def)


def partition_parts(
    parts: Partitions, fetches: Sequence[str], feeds: Sequence[str], asked: Any
) -> None:
    """Make regions of the graphs operators of the backends that ``asked`` names.

    Raises ``BadRequest`` (``no-subgraph-module``) where no installed module partitions graphs.
    """
    found = stage("partition")
    if not found:
        raise _not_installed(asked)
    _each(parts, found, fetches, feeds, asked)


def fuse_parts(
    parts: Partitions, fetches: Sequence[str], feeds: Sequence[str], config: Any
) -> None:
    """Optimize the graphs further, as ``config`` says, with what only the host executor knows."""
    _each(parts, stage("fuse"), fetches, feeds, config)


def _each(
    parts: Partitions,
    changes: Sequence[Callable[..., Graph]],
    fetches: Sequence[str],
    feeds: Sequence[str],
    how: Any,
) -> None:
    for device, graph in parts.graphs.items():
        sent = parts.sends[device]
        kept = [name for name in (*fetches, *sent) if parse_tensor_name(name)[0] in graph]
        fed = [name for name in feeds if parse_tensor_name(name)[0] in graph]
        for change in changes:
            parts.graphs[device] = graph = change(graph, kept, fed, how)


def _not_installed(asked: Any) -> BadRequest:
    return BadRequest(
        "the graph cannot be partitioned for backends",
        check="regions of a graph are cut out by drystone-subgraph",
        found=f"backends are asked for ({asked!r}), and drystone-subgraph is not installed",
        needed="drystone-subgraph",
        remedy="pip install drystone-subgraph, or unset DRYSTONE_SUBGRAPH_BACKEND",
        code="no-subgraph-module",
        status="FAILED_PRECONDITION",
    )
