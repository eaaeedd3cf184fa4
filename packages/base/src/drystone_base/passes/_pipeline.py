"""The groupings at their places: from an optimized graph to the one that is lowered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_base.passes._registry import registered, run_grouping
from drystone_base.passes._types import Grouping, Pass, PassOptions

if TYPE_CHECKING:
    from drystone_base.graph import Graph

__all__ = ["DEVICES", "prepare"]

DEVICES: Final = ("/job:localhost/replica:0/task:0/device:CPU:0",)


def prepare(graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: Any) -> Graph:
    """The graph as the registered passes leave it; ``graph`` itself is not changed.

    One device runs everything, so that placing and partitioning change nothing between the
    groupings: the one partition is the graph. Raises ``GraphError`` (``pass-failed``).
    """
    ops = frozenset(node.op for node in graph)
    if not any(_may_run(p, config, ops) for p in registered()):
        return graph
    graph = graph.copy()
    shared: dict[str, Any] = {"fetches": fetches, "feeds": feeds, "session": config}
    for grouping in Grouping:
        if grouping is Grouping.POST_PARTITIONING:
            options = PassOptions(partitions={DEVICES[0]: graph}, **shared)
        else:
            options = PassOptions(graph=graph, devices=DEVICES, **shared)
        run_grouping(grouping, options, config.passes)
    return graph


def _may_run(found: Pass, config: Any, ops: frozenset[str]) -> bool:
    return config.passes.get(found.name, found.is_default) is not False and found.may_apply(ops)
