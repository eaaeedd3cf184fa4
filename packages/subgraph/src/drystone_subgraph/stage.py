"""Partitioning the graph of a session, for one set of fetches and feeds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from drystone_base.errors import GraphError, PluginError
from drystone_base.graph import Graph
from drystone_subgraph.config import PartitionConfig
from drystone_subgraph.failure import SubgraphWarning
from drystone_subgraph.partitioner import partition

__all__ = ["partition_for_session"]


def partition_for_session(
    graph: Graph, fetches: Sequence[str], feeds: Sequence[str], wish: Any
) -> Graph:
    """The graph that a session should run; ``graph`` itself where no backend took anything.

    Calls that passes gave to a backend get its operators, too. A backend that fails costs one
    ``SubgraphWarning``: what ran without backends runs with them. Raises ``BadRequest`` for a wish
    that is not understood, or a backend that is not there.
    """
    config = PartitionConfig.of(wish)
    parts = graph if config.backends else graph.copy()
    if config.backends:
        try:
            parts = partition(graph, fetches, feeds, config, placed=True)
        except (GraphError, PluginError) as error:
            text = f"the graph was not partitioned and goes on as it was: {error.render()}"
            warnings.warn(text, SubgraphWarning, stacklevel=2)
    if parts is not graph:
        from drystone_subgraph.attach import attach

        attach(parts, config, feeds)
    return parts
