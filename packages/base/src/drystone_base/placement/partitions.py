"""What a graph is once it is split: the graph of every device, and what goes between them."""

from __future__ import annotations

from typing import NamedTuple

from drystone_base.graph import Graph

__all__ = ["Partitions", "Transfer", "whole"]


class Transfer(NamedTuple):
    """A value that goes from one device to another, under a key that both sides know."""

    key: str
    source: str
    sender: str
    receiver: str


class Partitions:
    """The graph of every device, and what goes between them.

    ``sends``: by device, the names of the nodes that must run whatever is fetched.
    """

    def __init__(self, graphs: dict[str, Graph], sends: dict[str, list[str]]) -> None:
        self.graphs, self.sends = graphs, sends
        self.transfers: list[Transfer] = []


def whole(graph: Graph) -> Partitions:
    """One part that is the whole graph, for a session with one device."""
    device = "/job:localhost/replica:0/task:0/device:CPU:0"
    return Partitions({device: graph}, {device: []})
