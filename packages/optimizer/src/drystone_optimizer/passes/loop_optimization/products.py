"""A product of each element of a list with the same matrix is one product before the loop.

A recurrent layer reads row ``t`` of its input in iteration ``t`` and multiplies it with weights
that stay the same. Before the loop all rows go through the weights at once, which reads these once
instead of in each iteration; the loop's list holds the products then. Only where the body does
nothing else with the list, and where shapes show that the product cannot fail. A loop that ends
early has multiplied rows in vain.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.dtypes import DType, as_dtype
from drystone_base.errors import DrystoneError
from drystone_base.graph import Body, Function, Graph, Node, Output, body_to_function
from drystone_base.graph.rewiring import replace
from drystone_base.late_dataclasses import dataclass
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_optimizer.context import Context
from drystone_optimizer.rules import Numeric, Rule, apply_rules

__all__ = ["RULE", "run"]

_INT32: Final = as_dtype("int32")
_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")


def run(ctx: Context) -> None:
    """Move products out until none is left that could be."""
    apply_rules(ctx, _RULES)


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
    lists = [k for k, (source, _) in enumerate(node.inputs) if source.op == "TensorListFromTensor"]
    ref = node.attrs.get("body")
    if not lists or not isinstance(ref, FunctionRef) or ref.attrs or ctx.kept(node):
        return None
    function = ctx.graph.functions.get(ref.name)
    if function is None:
        return None
    try:
        body = ctx.bodies.of(function, ctx.graph.functions)
    except DrystoneError:
        return None  # reported when the loop runs
    if len(body.args) != len(node.inputs) or len(body.results) != len(node.inputs):
        return None
    for at in lists:
        found = None if ctx.users((node, at)) else _in_body(ctx, node, function, body, at)
        if found is not None:
            return found
    return None


def _in_body(ctx: Context, node: Node, function: Function, body: Body, at: int) -> _Found | None:
    """The product of the list's elements, if the body does nothing else with it."""
    read = _only_reader(body, at)
    users = body.graph.consumers(read) if read is not None and _is_free(body, read) else []
    if read is None or len(users) != 1 or users[0][1] != 0:
        return None
    product = users[0][0]
    plain = product.op == "MatMul" and not product.attr("transpose_a", False)
    if not plain or not _is_free(body, product):
        return None
    weights = _outside(node, body, product)
    dtype = ctx.dtype(node.inputs[at][0].inputs[0])
    if weights is None or dtype is None or dtype.label not in _FLOATS:
        return None
    if ctx.dtype(weights) is not dtype:
        return None
    width = _width(ctx, node.inputs[at][0].inputs[0], weights, product)
    return _Found(function, body, at, read, product, weights, width) if width else None


def _is_free(body: Body, node: Node) -> bool:
    """Whether nothing is known of a node but its output, and it waits for nothing."""
    waited = body.graph.control_consumers(node)
    return not (waited or node.controls or node in body.effects)


def _only_reader(body: Body, at: int) -> Node | None:
    """The one node that reads an element of a list that is the same in all iterations."""
    arg, result = body.args[at], body.results[at]
    readers: dict[Node, None] = {}
    ends, queue = 0, [arg]
    for held in queue:
        if body.graph.control_consumers(held):
            return None
        for user, _ in body.graph.consumers(held):
            if user is result:
                ends += 1
            elif user.op == "Identity":
                queue.append(user)
            else:
                readers[user] = None
    found = next(iter(readers), None)
    if ends != 1 or len(readers) != 1 or found is None or found.op != "TensorListGetItem":
        return None
    return found if len(found.inputs) == 3 else None


def _source(output: Output) -> Output:
    """What an output is, through nodes that pass it on."""
    while output[0].op == "Identity" and not output[0].controls:
        output = output[0].inputs[0]
    return output


def _outside(node: Node, body: Body, product: Node) -> Output | None:
    """The matrix that a product of the body reads, before the loop, if it stays the same."""
    source = _source(product.inputs[1])
    if source[0] not in body.args:
        return None
    at = body.args.index(source[0])
    return node.inputs[at] if _source(body.results[at].inputs[0]) == source else None


def _width(ctx: Context, rows: Output, weights: Output, product: Node) -> int:
    """How long a row of the product is; 0 where it could fail, for all that is known."""
    given, matrix = ctx.shape(rows), ctx.shape(weights)
    if given is None or matrix is None or len(given) != 3 or len(matrix) != 2:
        return 0
    depth, width = reversed(matrix) if product.attr("transpose_b", False) else matrix
    return width if depth == given[-1] and min(depth, width) > 0 else 0


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    graph, given = ctx.graph, node.inputs[found.at][0]
    rows = given.inputs[0]
    dtype = ctx.dtype(rows)
    flips = {"adj_x": False, "adj_y": found.product.attr("transpose_b", False)}
    products = ctx.add(
        "BatchMatMulV2", node, "products", [rows, found.weights], {"T": dtype, **flips}
    )
    shape = ctx.add_constant(node, "products_shape", _shape(found))
    attrs = {"element_dtype": dtype, "shape_type": _INT32}
    held = ctx.add("TensorListFromTensor", node, "list", [(products, 0), shape], attrs)
    inputs = list(node.inputs)
    inputs[found.at] = (held, 0)
    graph.set_inputs(node, inputs)
    graph.set_attr(node, "body", FunctionRef(_new_body(graph, found, dtype)))
    ctx.forget(node)
    ctx.drop_unused(given)


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
    proto = body_to_function(body, found.function.proto)
    number, stem = 0, f"{found.function.name}_products"
    while (named := f"{stem}_{number}" if number else stem) in graph.functions:
        number += 1
    proto.signature.name = named
    graph.functions.add(proto)
    return named


RULE: Final = Rule(
    "products before the loop", ("While", "StatelessWhile"), _match, _apply, Numeric.REASSOCIATES
)
_RULES: Final = (RULE,)
