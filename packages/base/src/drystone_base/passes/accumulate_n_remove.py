"""AccumulateNV2 becomes a temporary variable to which its inputs are added one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone_base.graph.topology import frame_nodes
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._rewriting import Beside, not_fed
from drystone_base.passes._types import Grouping, PassOptions

if TYPE_CHECKING:
    from drystone_base.graph import Graph, Node

__all__ = ["accumulate_n_remove"]


@graph_pass(
    Grouping.PRE_PLACEMENT, 0, name="AccumulateNV2RemovePass", ops=("AccumulateNV2",),
    is_default=False,
)  # fmt: skip
def accumulate_n_remove(options: PassOptions) -> bool:
    """Add the inputs of AccumulateNV2 to one temporary variable, in their order (exact).

    Each input can be given up once it was added. The op's own kernel adds in place as well, so
    this is not a default pass. Inside a loop of frames, whose iterations would share the variable,
    the node becomes an AddN. Source: TensorFlow's ``AccumulateNV2RemovePass``.
    """
    assert options.graph is not None
    graph = options.graph
    found = [node for node in not_fed(options, "AccumulateNV2") if _matches(node)]
    frames = frame_nodes(graph) if found else set()
    for node in found:
        if node in frames:
            _sum_at_once(graph, node)
        else:
            _accumulate(graph, node)
    return bool(found)


def _matches(node: Node) -> bool:
    shape = node.attr("shape")
    return bool(node.inputs) and shape is not None and -1 not in shape


def _sum_at_once(graph: Graph, node: Node) -> None:
    graph.set_op(node, "AddN")
    graph.remove_attr(node, "shape")


def _accumulate(graph: Graph, node: Node) -> None:
    beside, values, dtype = Beside(graph, node), node.inputs, node.attr("T")
    variable_name = f"{node.name}/accumulator"
    variable = beside.add(
        "TemporaryVariable", "accumulator", (), node.controls,
        shape=node.attr("shape"), dtype=dtype, var_name=variable_name,
    )  # fmt: skip
    last = beside.add("Assign", "assign", [(variable, 0), values[0]], T=dtype)
    for k, value in enumerate(values[1:], 1):
        last = beside.add("AssignAdd", f"add_{k}", [(variable, 0), value], [last], T=dtype)
    graph.set_inputs(node, [(variable, 0)])
    graph.set_controls(node, [last])
    graph.set_op(node, "DestroyTemporaryVariable")
    graph.set_attr(node, "var_name", variable_name)
    for name in ("N", "shape"):
        graph.remove_attr(node, name)
