"""Lists that a loop reads element by element and hands on as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Body, Function, Graph, Node, Output, body_to_function
from drystone_base.ops.attrs import FunctionRef
from drystone_optimizer.core.context import Context

__all__ = ["FLOATS", "add_body", "is_free", "lists", "only_reader", "outside", "use_list"]

FLOATS: Final = ("float16", "bfloat16", "float32", "float64")


def lists(ctx: Context, node: Node) -> Iterator[tuple[Function, Body, int]]:
    """The loop's body, and which of its inputs is made of a tensor and not read after the loop."""
    found = [k for k, (source, _) in enumerate(node.inputs) if source.op == "TensorListFromTensor"]
    ref = node.attrs.get("body")
    if not found or not isinstance(ref, FunctionRef) or ref.attrs or ctx.kept(node):
        return
    function = ctx.graph.functions.get(ref.name)
    if function is None:
        return
    try:
        body = ctx.bodies.of(function, ctx.graph.functions)
    except DrystoneError:
        return  # reported when the loop runs
    if len(body.args) != len(node.inputs) or len(body.results) != len(node.inputs):
        return
    for at in found:
        if not ctx.users((node, at)):
            yield function, body, at


def is_free(body: Body, node: Node) -> bool:
    """Whether nothing is known of a node but its output, and it waits for nothing."""
    waited = body.graph.control_consumers(node)
    return not (waited or node.controls or node in body.effects)


def only_reader(body: Body, at: int) -> Node | None:
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


def outside(node: Node, body: Body, output: Output) -> Output | None:
    """What an output of the body is before the loop, if it stays the same."""
    source = _source(output)
    if source[0] not in body.args:
        return None
    at = body.args.index(source[0])
    return node.inputs[at] if _source(body.results[at].inputs[0]) == source else None


def add_body(graph: Graph, function: Function, body: Body, suffix: str) -> str:
    """Add an edited body of the function under a name of its own, which is given."""
    proto = body_to_function(body, function.proto)
    number, stem = 0, f"{function.name}_{suffix}"
    while (named := f"{stem}_{number}" if number else stem) in graph.functions:
        number += 1
    proto.signature.name = named
    graph.functions.add(proto)
    return named


def use_list(
    ctx: Context, loop: Node, at: int, inputs: Sequence[Output], attrs: Mapping[str, Any], body: str
) -> None:
    """Let a loop read a list made of other values, in a body that is for that."""
    before = loop.inputs[at][0]
    held = ctx.add("TensorListFromTensor", loop, "list", list(inputs), dict(attrs))
    given = list(loop.inputs)
    given[at] = (held, 0)
    ctx.graph.set_inputs(loop, given)
    ctx.graph.set_attr(loop, "body", FunctionRef(body))
    ctx.forget(loop)
    ctx.drop_unused(before)
