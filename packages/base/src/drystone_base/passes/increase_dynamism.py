"""Sizes that say "to the end" become numbers, so that a compiled region need not know them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core import dtypes
from drystone_base.graph import Node
from drystone_base.ops.attrs import TensorAttr
from drystone_base.passes._clusters import CLUSTER
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._rewriting import Beside
from drystone_base.passes._types import Grouping, PassOptions

__all__ = ["increase_dynamism"]

_DONE: Final = "_size_is_explicit"


@graph_pass(
    Grouping.POST_REWRITE_FOR_EXEC, 20, name="IncreaseDynamismForAutoJitPass", ops=("Slice",),
    is_default=False,
)  # fmt: skip
def increase_dynamism(options: PassOptions) -> bool:
    """Replace computed sizes of Slices in clusters by ones that never are -1 (exact).

    -1 means "to the end", so a compiler must know whether a size is -1 and compile again when it
    changes; a number that is only ever a size may be computed as it runs. Sizes that are constants
    are left alone. Source: TensorFlow's ``IncreaseDynamismForAutoJitPass``.
    """
    assert options.graph is not None
    fed = {options.graph.output(name)[0] for name in options.feeds}
    found = [node for node in options.graph if node not in fed and _matches(node)]
    for node in found:
        _apply(node)
    return bool(found)


def _matches(node: Node) -> bool:
    if node.op != "Slice" or not node.states(CLUSTER) or node.states(_DONE):
        return False
    return len(node.inputs) == 3 and node.inputs[2][0].op != "Const"


def _apply(node: Node) -> None:
    graph, beside = node.graph, Beside(node.graph, node)
    cluster = {CLUSTER: node.attrs[CLUSTER]}
    value, begin, size = node.inputs
    index = node.attr("Index", dtypes.INT32)

    def add(op: str, stem: str, inputs: list[Any], **attrs: Any) -> Node:
        made = beside.add(op, stem, inputs, **attrs)
        for name, stated in cluster.items():
            graph.set_attr(made, name, stated)
        return made

    shape = add("Shape", "shape", [value], T=node.attr("T"), out_type=index)
    rest = add("Sub", "rest", [shape, begin], T=index)
    zero = beside.add("Const", "zero", [], node.controls, dtype=index,
                      value=TensorAttr(array=np.zeros((), index.np)))  # fmt: skip
    graph.set_controls(zero, [value[0]])
    graph.set_attr(zero, CLUSTER, cluster[CLUSTER])
    minus = add("Less", "to_the_end", [size, zero], T=index)
    chosen = add("SelectV2", "size", [minus, rest, size], T=index)
    graph.set_input(node, 2, (chosen, 0))
    graph.set_attr(node, _DONE, True)
