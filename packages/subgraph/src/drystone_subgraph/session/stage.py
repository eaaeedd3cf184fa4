"""Partitioning the graph of a session, for one set of fetches and feeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from drystone_base.core.detached import compute_detached, has_abandoned_call
from drystone_base.core.errors import GraphError, PluginError
from drystone_base.core.gc_pause import paused_gc
from drystone_base.core.time_limits import OutOfTime, stage_ends
from drystone_base.graph import Graph
from drystone_subgraph.contract.config import PartitionConfig
from drystone_subgraph.contract.failure import warn_of
from drystone_subgraph.regions.partitioner import partition

__all__ = ["partition_for_session"]


def partition_for_session(
    graph: Graph, fetches: Sequence[str], feeds: Sequence[str], wish: Any
) -> Graph:
    """The graph that a session should run; ``graph`` itself where no backend took anything.

    Calls that passes gave to a backend get its operators, too. A backend that fails costs one
    ``SubgraphWarning`` and is left out: what ran without backends runs with them. So does
    partitioning that takes longer than a minute and 1 ms for each node, or than a quarter of the
    time that a run has. Raises ``BadRequest`` for a wish that is not understood, or a backend that
    is not there.
    """
    config = PartitionConfig.of(wish)
    parts = graph
    while config.backends:
        try:
            parts = _partitioned(graph, fetches, feeds, config)
            break
        except OutOfTime as error:
            names = ", ".join(config.backends)
            left = f" ({error})" if str(error) else ""
            warn_of(
                f"the time for partitioning for {names} was over{left}, and the graph is left "
                "unchanged: SessionConfig(deadline=...) says how long a run may take",
                stacklevel=2,
            )
            config = replace(config, backends=())
        except (GraphError, PluginError) as error:
            config = _after(error, config)
    if parts is graph and not config.backends:
        parts = graph.copy()
    if parts is not graph:
        from drystone_subgraph.compiled.attach import attach

        attach(parts, config, feeds)
    return parts


def _partitioned(
    graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: PartitionConfig
) -> Graph:
    """What ``partition()`` gives, unless a backend has not returned when its time is over.

    It works on a copy of the graph, in a thread that is left then, and on Ctrl-C. Raises
    ``OutOfTime``, also for a backend that has not returned to an earlier call.
    """
    what = f"a function of subgraph backend {', '.join(config.backends)}"
    if has_abandoned_call(what):
        raise OutOfTime(f"{what} has not returned to an earlier call, which was abandoned")

    def work() -> Graph:
        return partition(graph, fetches, feeds, config, placed=True)

    with paused_gc():  # here: a thread that is left would never turn it on again
        return compute_detached(work, stage_ends(_size(graph)), what)


def _size(graph: Graph) -> int:
    """How many nodes a graph and its functions have."""
    return len(graph) + sum(function.node_count for function in graph.functions)


def _after(error: GraphError | PluginError, config: PartitionConfig) -> PartitionConfig:
    """What is left to try: the other backends, where it was one that failed; and a warning."""
    failed = error.plugin if isinstance(error, PluginError) else ""
    if failed in config.backends:
        rest = tuple(name for name in config.backends if name != failed)
        text = f"the graph runs without subgraph backend {failed!r}"
    else:
        rest, text = (), "the graph was not partitioned and is left unchanged"
    warn_of(f"{text}: {error.render()}", error.details, stacklevel=3)
    return replace(config, backends=rest)
