"""Properties: what a backend cuts out of a graph, and what it puts in its place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Final

from drystone_base.core.arguments import checked
from drystone_subgraph.contract.selector import ContainOpSelector, SubgraphSelector
from drystone_subgraph.contract.subgraph import Subgraph, SubgraphNode

__all__ = ["ContainOpProperty", "SubgraphProperty"]


class SubgraphProperty(ABC):
    """One rule of a backend: a selector, and the operator for what it selects.

    Source: MXNet's ``SubgraphProperty``. ``name`` is for reports. Regions of fewer nodes than
    ``minimum_size`` stay as they are.
    """

    name = ""
    minimum_size = 1

    @abstractmethod
    def create_subgraph_selector(self) -> SubgraphSelector:
        """The selector that grows regions, one for each graph."""

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        """The operator for a region (default: a call that the host executor runs).

        It may edit ``subgraph.body``, or partition that graph once more. None refuses: the nodes
        stay, and later properties and backends may take them. ``subgraph.narrow()`` asks for a
        smaller region, which is offered in its turn.
        """
        return subgraph.node()


class ContainOpProperty(SubgraphProperty):
    """Cuts out nodes of the given ops, and calls them by the default operator."""

    @checked
    def __init__(self, ops: Collection[str], name: str = "ops", minimum_size: int = 1) -> None:
        self.ops: Final = frozenset(ops)
        self.name, self.minimum_size = name, minimum_size

    def create_subgraph_selector(self) -> SubgraphSelector:
        """Selects the ops."""
        return ContainOpSelector(self.ops)
