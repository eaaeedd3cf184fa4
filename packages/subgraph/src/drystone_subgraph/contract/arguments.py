"""What a region takes, as nodes of its body: constants as such, other inputs as placeholders."""

from __future__ import annotations

from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_subgraph.contract.executable import CompileRequest

__all__ = ["with_arguments"]


def with_arguments(request: CompileRequest, *, freezes: bool) -> Graph:
    """The graph of the request's body, in which every ``_Arg`` has become what it stands for.

    A constant is a ``Const``, any other input a ``Placeholder`` of its shape; ``freezes``: a value
    of a variable is a constant, too. The arrays are shared.
    """
    graph = request.body.graph
    for node, given in zip(request.body.args, request.inputs, strict=True):
        for name in list(node.attrs):
            graph.remove_attr(node, name)
        graph.set_attr(node, "dtype", given.dtype)
        if given.value is None or (given.is_weight and not freezes):
            graph.set_op(node, "Placeholder")
            graph.set_attr(node, "shape", given.shape)
        else:
            graph.set_op(node, "Const")
            graph.set_attr(node, "value", TensorAttr(array=given.value))
    return graph
