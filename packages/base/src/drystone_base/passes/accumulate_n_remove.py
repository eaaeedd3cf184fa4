"""AccumulateNV2 becomes a temporary variable to which its inputs are added one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from drystone_base.graph.topology import frame_nodes
from drystone_base.passes._registry import graph_pass
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
    found = _match(graph, options.feeds)
    frames = frame_nodes(graph) if found else set()
    for node in found:
        if node in frames:
            _sum_at_once(graph, node)
        else:
            _accumulate(graph, node)
    return bool(found)


def _match(graph: Graph, feeds: Sequence[str]) -> list[Node]:
    fed = {graph.output(name)[0] for name in feeds}
    found = [node for node in graph if node.op == "AccumulateNV2" and node not in fed]
    return [
        n for n in found if n.inputs and n.attr("shape") is not None and -1 not in n.attr("shape")
    ]


def _sum_at_once(graph: Graph, node: Node) -> None:
    graph.set_op(node, "AddN")
    graph.remove_attr(node, "shape")


def _accumulate(graph: Graph, node: Node) -> None:
    values, dtype = node.inputs, node.attr("T")
    kept = {name: node.attr(name) for name in ("_class",) if node.attr(name) is not None}
    variable_name = f"{node.name}/accumulator"

    def add(op: str, stem: str, inputs: Any, attrs: dict[str, Any], controls: Any = ()) -> Node:
        name = graph.unique_name(f"{node.name}/{stem}")
        return graph.add(
            op, name, inputs, controls=controls, device=node.device, attrs=kept | attrs
        )

    shape = {"shape": node.attr("shape"), "dtype": dtype, "var_name": variable_name}
    variable = add("TemporaryVariable", "accumulator", (), shape, node.controls)
    last = add("Assign", "assign", [(variable, 0), values[0]], {"T": dtype})
    for k, value in enumerate(values[1:], 1):
        last = add("AssignAdd", f"add_{k}", [(variable, 0), value], {"T": dtype}, [last])
    graph.set_inputs(node, [(variable, 0)])
    graph.set_controls(node, [last])
    graph.set_op(node, "DestroyTemporaryVariable")
    graph.set_attr(node, "var_name", variable_name)
    for name in ("N", "shape"):
        graph.remove_attr(node, name)
