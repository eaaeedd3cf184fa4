"""What passes that replace a node share: which they may touch, and the nodes beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drystone_base.core.dtypes import DType
    from drystone_base.graph import Graph, Node, Output
    from drystone_base.passes._types import PassOptions

__all__ = ["Beside", "become_identity", "forget_functions", "not_fed", "remove_unused"]


def not_fed(options: PassOptions, *ops: str) -> list[Node]:
    """The nodes of these ops none of whose outputs is fed."""
    assert options.graph is not None
    fed = {options.graph.output(name)[0] for name in options.feeds}
    return [node for node in options.graph if node.op in ops and node not in fed]


def become_identity(
    graph: Graph, node: Node, results: Sequence[Output], types: Sequence[DType],
    controls: Sequence[Node] = (),
) -> None:  # fmt: skip
    """Make a node hand on other outputs under its name; without any it is a NoOp."""
    for name in list(node.attrs):
        if name != "_class":
            graph.remove_attr(node, name)
    graph.set_inputs(node, results)
    graph.set_controls(node, controls)
    if not results:
        graph.set_op(node, "NoOp")
    elif len(results) == 1:
        graph.set_op(node, "Identity")
        graph.set_attr(node, "T", types[0])
    else:
        graph.set_op(node, "IdentityN")
        graph.set_attr(node, "T", list(types))


def forget_functions(graph: Graph, known: int) -> None:
    """Remove the functions that came into the library behind the ``known`` first ones."""
    if len(graph.functions) > known:
        for name in [f.name for f in islice(graph.functions, known, None)]:
            graph.functions.remove(name)


def remove_unused(graph: Graph, nodes: Iterable[Node], kept: Collection[Node]) -> None:
    """Remove those of ``nodes`` that only others of them read, but for ``kept``."""
    nodes = list(nodes)
    chosen = {node for node in nodes if node not in kept}
    stuck = [n for n in chosen if any(u not in chosen for u in _users(graph, n))]
    while stuck:
        node = stuck.pop()
        if node in chosen:
            chosen.discard(node)
            stuck += [s for s in (*(s for s, _ in node.inputs), *node.controls) if s in chosen]
    graph.remove([node for node in dict.fromkeys(nodes) if node in chosen])


def _users(graph: Graph, node: Node) -> list[Node]:
    return [*(u for u, _ in graph.consumers(node)), *graph.control_consumers(node)]


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
