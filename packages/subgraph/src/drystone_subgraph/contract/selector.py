"""Selectors: which nodes a backend wants, decided while a region grows around a first node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from drystone_base.graph import Node

__all__ = ["ContainOpSelector", "NodeSelector", "SubgraphSelector"]


class SubgraphSelector(ABC):
    """Decides, node by node, what belongs to a region. Source: MXNet's ``SubgraphSelector``.

    A region begins with a node for which :meth:`select` is true. From each of its nodes on, in the
    order in which they came in, the nodes that it reads are offered to :meth:`select_input`, then
    the nodes that read it to :meth:`select_output`. A node is offered only where taking it leaves
    the graph without a cycle, so what a selector has said yes to is in the region, and its state
    never has to be taken back. One selector serves all regions of a pass: :meth:`reset` is called
    before each. ``stateful = False`` says that no answer depends on earlier ones, which saves time.
    ``fetched`` is set before the first question: nodes whose values come out of the graph, by a
    fetch or by a node outside.
    """

    stateful = True
    fetched: Collection[Node] = ()

    @abstractmethod
    def select(self, node: Node) -> bool:
        """Whether a region may begin with ``node``."""

    @abstractmethod
    def select_input(self, node: Node, new_node: Node) -> bool:
        """Whether ``new_node``, which ``node`` of the region reads, comes in, too."""

    @abstractmethod
    def select_output(self, node: Node, new_node: Node) -> bool:
        """Whether ``new_node``, which reads ``node`` of the region, comes in, too."""

    def filter(self, candidates: Sequence[Node]) -> Sequence[Node]:
        """Which of the nodes make up the region in the end (default: all).

        If what is left is not connected, or other nodes lie between its nodes, the largest part
        that holds together is the region. Nodes that are dropped may begin another one.
        """
        return candidates

    def reset(self) -> None:  # noqa: B027 — what has no state has nothing to forget
        """Forget all nodes seen: another region begins."""

    def why_not(self, node: Node) -> str:
        """Why :meth:`select` refuses ``node``, for reports."""
        return f"the backend does not select {node.op}"


class NodeSelector(SubgraphSelector):
    """Decides about each node by itself, whatever is next to it: :meth:`wants` says it all.

    It is asked about a node once, and regions are found all at once.
    """

    stateful = False

    @abstractmethod
    def wants(self, node: Node) -> bool:
        """Whether the backend takes ``node``."""

    def select(self, node: Node) -> bool:
        """Whether the node is wanted."""
        return self.wants(node)

    def select_input(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        """Whether the new node is wanted."""
        return self.wants(new_node)

    def select_output(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        """Whether the new node is wanted."""
        return self.wants(new_node)

    def wanted(self, nodes: Sequence[Node]) -> Sequence[bool] | None:
        """The answer for each of the nodes; None where a subclass asks about neighbours, too."""
        own = type(self)
        asks = ("select", "select_input", "select_output", "filter")
        if any(getattr(own, name) is not getattr(NodeSelector, name) for name in asks):
            return None
        return self._wanted(nodes)

    def _wanted(self, nodes: Sequence[Node]) -> Sequence[bool]:
        return [bool(self.wants(node)) for node in nodes]


class ContainOpSelector(NodeSelector):
    """Selects nodes whose op is in a list, but for those that lack something."""

    def __init__(self, ops: Collection[str]) -> None:
        self.ops = ops

    def wants(self, node: Node) -> bool:
        """Whether the node's op is in the list and it lacks nothing."""
        return node.op in self.ops and not self.lacks(node)

    def lacks(self, node: Node) -> str:  # noqa: ARG002
        """Why a node whose op is in the list is left all the same; "" takes it (default)."""
        return ""

    def _wanted(self, nodes: Sequence[Node]) -> Sequence[bool]:
        own = type(self)
        if any(getattr(own, n) is not getattr(ContainOpSelector, n) for n in ("wants", "lacks")):
            return super()._wanted(nodes)
        ops = frozenset(self.ops)
        return [node.op in ops for node in nodes]

    def why_not(self, node: Node) -> str:
        """That the op is not in the list, or what the node lacks."""
        listed = node.op in self.ops and self.lacks(node)
        return listed or f"{node.op} is not in the backend's list of ops"
