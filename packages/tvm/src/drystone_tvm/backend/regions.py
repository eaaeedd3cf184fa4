"""Bodies of regions, as what is compiled takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from drystone_base import as_dtype
from drystone_base.graph import Body, Graph, Node, Output
from drystone_base.ops.attrs import TensorAttr
from drystone_tvm.compiling.emission import Argument
from drystone_tvm.compiling.rules import Dims

__all__ = ["Given", "Parts", "parts"]

_MOST_HELD: Final = 64
"""Elements of a constant that code may have in it: axes, paddings, factors."""


class Given(NamedTuple):
    """What goes in: sizes below 0 are symbols, ``value`` that of a constant."""

    dtype: str
    dims: Dims
    value: np.ndarray[tuple[int, ...], np.dtype[np.generic]] | None = None


class Parts(NamedTuple):
    """A region by its graph, arguments and results."""

    graph: Graph
    arguments: list[Argument]
    results: list[tuple[str, Output]]


def parts(body: Body, given: Sequence[Given]) -> Parts:
    """The body, whose small constants are such in its graph; it is changed."""
    graph = body.graph
    arguments = []
    for k, (node, one) in enumerate(zip(body.args, given, strict=True)):
        if one.value is not None and one.value.size <= _MOST_HELD:
            _hold(graph, node, one)
        arguments.append(Argument((node, 0), f"input_{k}", one.dtype, one.dims))
    ends = [node.inputs[0] for node in body.results]
    graph.remove(body.results)
    return Parts(graph, arguments, [(f"output_{k}", output) for k, output in enumerate(ends)])


def _hold(graph: Graph, node: Node, one: Given) -> None:
    for name in list(node.attrs):
        graph.remove_attr(node, name)
    graph.set_op(node, "Const")
    graph.set_attr(node, "value", TensorAttr(array=np.asarray(one.value)))
    graph.set_attr(node, "dtype", as_dtype(one.dtype))
