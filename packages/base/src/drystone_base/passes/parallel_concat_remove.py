"""ParallelConcat becomes one buffer into which each of its inputs is written where it belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from drystone_base.passes._registry import graph_pass
from drystone_base.passes._types import Grouping, PassOptions

if TYPE_CHECKING:
    from drystone_base.graph import Graph, Node

__all__ = ["parallel_concat_remove"]


@graph_pass(
    Grouping.PRE_PLACEMENT, 0, name="ParallelConcatRemovePass", ops=("ParallelConcat",),
    is_default=False,
)  # fmt: skip
def parallel_concat_remove(options: PassOptions) -> bool:
    """Write the inputs of ParallelConcat into one buffer as they come (exact).

    Of use where inputs come from several devices: elsewhere the op's own kernel does the same in
    one node, so it is not a default pass. The node keeps its name, as an Identity of the buffer.
    Source: TensorFlow's ``ParallelConcatRemovePass``.
    """
    assert options.graph is not None
    found = list(_match(options.graph, options.feeds))
    for node in found:
        _apply(options.graph, node)
    return bool(found)


def _match(graph: Graph, feeds: Sequence[str]) -> Iterator[Node]:
    fed = {graph.output(name)[0] for name in feeds}
    for node in graph:
        shape = node.attr("shape") if node.op == "ParallelConcat" else None
        if shape and -1 not in shape and node not in fed and node.inputs:
            yield node


def _apply(graph: Graph, node: Node) -> None:
    values, before = node.inputs, node.controls
    dtype, shape = node.attr("T"), node.attr("shape")
    kept = {name: node.attr(name) for name in ("_class",) if node.attr(name) is not None}

    def add(op: str, stem: str, inputs: Any, attrs: dict[str, Any], controls: Any = ()) -> Node:
        name = graph.unique_name(f"{node.name}/{stem}")
        return graph.add(
            op, name, inputs, controls=controls, device=node.device, attrs=kept | attrs
        )

    start = add("_ParallelConcatStart", "start", (), {"shape": shape, "dtype": dtype}, before)
    updates = [
        add("_ParallelConcatUpdate", f"update_{loc}", [(start, 0), value], {"T": dtype, "loc": loc})
        for loc, value in enumerate(values)
    ]
    graph.set_inputs(node, [(start, 0)])
    graph.set_controls(node, updates)
    graph.set_op(node, "Identity")
    for name in ("N", "shape"):
        graph.remove_attr(node, name)
