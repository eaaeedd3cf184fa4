"""What passes that replace a node share: which they may touch, and the nodes beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drystone_base.graph import Graph, Node, Output
    from drystone_base.passes._types import PassOptions

__all__ = ["Beside", "not_fed"]


def not_fed(options: PassOptions, *ops: str) -> list[Node]:
    """The nodes of these ops none of whose outputs is fed."""
    assert options.graph is not None
    fed = {options.graph.output(name)[0] for name in options.feeds}
    return [node for node in options.graph if node.op in ops and node not in fed]


class Beside:
    """Adds nodes that are named after another one, on its device and in its colocation."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph, self.node = graph, node

    def add(
        self, op: str, stem: str, inputs: Sequence[Output | Node], controls: Sequence[Node] = (),
        **attrs: Any,
    ) -> Node:  # fmt: skip
        """A node ``NAME/stem``."""
        name = self.graph.unique_name(f"{self.node.name}/{stem}")
        kept = {"_class": self.node.attrs["_class"]} if "_class" in self.node.attrs else {}
        return self.graph.add(
            op, name, inputs, controls=controls, device=self.node.device, attrs=kept | attrs
        )
