"""How many nodes the bodies of inlined and specialised functions may add to a graph."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import FunctionLibrary, Graph
from drystone_base.graph.calls import recursive_functions

__all__ = ["NodeBudget"]

_NODES: Final = 20_000
_BY_NODE: Final = 8


class NodeBudget:
    """``left``: how many nodes may be added. A call for which too few are left is kept."""

    def __init__(self, left: int) -> None:
        self.left = left
        self._recursive: dict[str, bool] = {}

    def may_recur(self, name: str, library: FunctionLibrary) -> bool:
        """Whether a function may come to call itself, or one that does, when first asked for.

        Calls only become fewer, and what is made meanwhile is bounded by the budget.
        """
        if name not in self._recursive:
            self._recursive |= recursive_functions(library, name, self._recursive)
        return self._recursive[name]

    @staticmethod
    def size(graph: Graph) -> int:
        """How many nodes a graph and the functions of its library have."""
        return len(graph) + sum(function.node_count for function in graph.functions)

    @classmethod
    def around(cls, graph: Graph) -> NodeBudget:
        """For a graph with its functions: several times as many nodes as there are."""
        return cls(_NODES + _BY_NODE * cls.size(graph))

    def take(self, nodes: int) -> bool:
        """Whether so many nodes may be added, which are counted then."""
        if nodes > self.left:
            return False
        self.left -= nodes
        return True
