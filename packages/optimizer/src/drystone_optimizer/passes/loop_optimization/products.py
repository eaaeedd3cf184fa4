"""A product of each element of a list with the same matrix is one product before the loop.

A recurrent layer reads row ``t`` of its input in iteration ``t`` and multiplies it with weights
that stay the same. Before the loop all rows go through the weights at once, which reads these once
instead of in each iteration; the loop's list holds the products then. Only where the body does
nothing else with the list, and where shapes show that the product cannot fail. A loop that ends
early has multiplied rows in vain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.graph import Body, Function, Graph, Node, Output
from drystone_base.graph.rewiring import replace
from drystone_base.ops.attrs import TensorAttr
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.loop_optimization._lists import (
    FLOATS,
    add_body,
    is_free,
    lists,
    only_reader,
    outside,
    use_list,
)

__all__ = ["RULE"]

_INT32: Final = as_dtype("int32")


@dataclass(frozen=True)
class _Found:
    """A loop, its body's product of an element with a matrix, and where both come from."""

    function: Function
    body: Body
    at: int
    """Which of the loop's inputs the list is."""
    read: Node
    product: Node
    weights: Output
    """Of the graph around the loop."""
    width: int


def _match(ctx: Context, node: Node) -> _Found | None:
    for function, body, at in lists(ctx, node):
        found = _in_body(ctx, node, function, body, at)
        if found is not None:
            return found
    return None


def _in_body(ctx: Context, node: Node, function: Function, body: Body, at: int) -> _Found | None:
    """The product of the list's elements, if the body does nothing else with it."""
    read = only_reader(body, at)
    users = body.graph.consumers(read) if read is not None and is_free(body, read) else []
    if read is None or len(users) != 1 or users[0][1] != 0:
        return None
    product = users[0][0]
    plain = product.op == "MatMul" and not product.attr("transpose_a", False)
    if not plain or not is_free(body, product):
        return None
    weights = outside(node, body, product.inputs[1])
    dtype = ctx.dtype(node.inputs[at][0].inputs[0])
    if weights is None or dtype is None or dtype.label not in FLOATS:
        return None
    if ctx.dtype(weights) is not dtype:
        return None
    width = _width(ctx, node.inputs[at][0].inputs[0], weights, product)
    return _Found(function, body, at, read, product, weights, width) if width else None


def _width(ctx: Context, rows: Output, weights: Output, product: Node) -> int:
    """How long a row of the product is; 0 where it could fail, for all that is known."""
    given, matrix = ctx.shape(rows), ctx.shape(weights)
    if given is None or matrix is None or len(given) != 3 or len(matrix) != 2:
        return 0
    depth, width = reversed(matrix) if product.attr("transpose_b", False) else matrix
    return width if depth == given[-1] and min(depth, width) > 0 else 0


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    rows = node.inputs[found.at][0].inputs[0]
    dtype = ctx.dtype(rows)
    flips = {"adj_x": False, "adj_y": found.product.attr("transpose_b", False)}
    products = ctx.add(
        "BatchMatMulV2", node, "products", [rows, found.weights], {"T": dtype, **flips}
    )
    shape = ctx.add_constant(node, "products_shape", _shape(found))
    attrs = {"element_dtype": dtype, "shape_type": _INT32}
    body = _new_body(ctx.graph, found, dtype)
    use_list(ctx, node, found.at, [(products, 0), shape], attrs, body)


def _shape(found: _Found) -> np.ndarray[Any, Any]:
    return np.array([-1, found.width], np.int32)


def _new_body(graph: Graph, found: _Found, dtype: DType | None) -> str:
    """A function like the body, in which the elements are the products."""
    body = found.function.body(graph.functions)  # one that may be edited
    inner = body.graph
    read, product = inner[found.read.name], inner[found.product.name]
    value = TensorAttr(array=_shape(found))
    name = inner.unique_name(f"{read.name}/shape")
    shape = inner.add("Const", name, attrs={"dtype": _INT32, "value": value})
    replace(inner, read, read.op, [*read.inputs[:2], (shape, 0)], {"element_dtype": dtype})
    inner.redirect((product, 0), (read, 0))
    inner.remove(product)
    return add_body(graph, found.function, body, "products")


RULE: Final = Rule(
    "hoist-matmul", ("While", "StatelessWhile"), _match, _apply, Numeric.REASSOCIATES
)
