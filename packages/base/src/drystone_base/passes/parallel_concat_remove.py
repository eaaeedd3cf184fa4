"""ParallelConcat becomes one buffer into which each of its inputs is written where it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone_base.passes._registry import graph_pass
from drystone_base.passes._rewriting import Beside, not_fed
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
    found = [node for node in not_fed(options, "ParallelConcat") if _matches(node)]
    for node in found:
        _apply(options.graph, node)
    return bool(found)


def _matches(node: Node) -> bool:
    shape = node.attr("shape")
    return bool(shape) and -1 not in shape and bool(node.inputs)


def _apply(graph: Graph, node: Node) -> None:
    beside, dtype = Beside(graph, node), node.attr("T")
    start = beside.add(
        "_ParallelConcatStart", "start", (), node.controls, shape=node.attr("shape"), dtype=dtype
    )
    updates = [
        beside.add("_ParallelConcatUpdate", f"update_{loc}", [(start, 0), value], T=dtype, loc=loc)
        for loc, value in enumerate(node.inputs)
    ]
    graph.set_inputs(node, [(start, 0)])
    graph.set_controls(node, updates)
    graph.set_op(node, "Identity")
    for name in ("N", "shape"):
        graph.remove_attr(node, name)
