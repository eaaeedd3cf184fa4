"""Shapes of what a loop hands its body, where the body is that loop's alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from drystone_base.graph import Body, Function, Graph, Node
from drystone_base.ops.attrs import FunctionRef

if TYPE_CHECKING:
    from drystone_base.inference.inference import Shapes

__all__ = ["loop_arguments"]

_LOOPS: Final = frozenset({"While", "StatelessWhile", "_While"})


def loop_arguments(
    graph: Graph, shapes: Shapes, function: Function, body: Body, written: dict[Function, bytes]
) -> Mapping[str, tuple[int, ...]]:
    """Shapes of arguments by their names, -1 for what is not known; empty where that is nothing.

    A loop's variables have the shapes of its outputs before each iteration. So they do for a body
    that a node of ``graph`` runs, of which ``shapes`` tell, and that nothing else names.
    ``written`` keeps the bytes of functions from call to call.
    """
    name = function.name
    users = [node for node in graph if _names(node, name)]
    if len(users) != 1 or users[0].op not in _LOOPS:
        return {}
    loop = users[0]
    ref, condition = loop.attrs.get("body"), loop.attrs.get("cond")
    alone = not isinstance(condition, FunctionRef) or condition.name != name
    if not isinstance(ref, FunctionRef) or ref.name != name or not alone:
        return {}
    if _named_by_functions(graph, name, written):
        return {}
    found: dict[str, tuple[int, ...]] = {}
    for k, arg in enumerate(body.args):
        shape = shapes.shape((loop, k))
        if shape is not None:
            found[arg.name] = tuple(max(size, -1) for size in shape)
    return found


def _names(node: Node, name: str) -> bool:
    """Whether a node is a call of the function, or an attribute names it."""
    if node.op == name:
        return True
    for value in node.attrs.values():
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, FunctionRef) and item.name == name:
                return True
    return False


def _named_by_functions(graph: Graph, name: str, written: dict[Function, bytes]) -> bool:
    key = name.encode()  # looked for in bytes first: libraries have thousands of nodes
    for function in graph.functions:
        if function not in written:
            written[function] = function.proto.SerializeToString()
        if key in written[function] and _is_named_in(function, name):
            return True
    return False


def _is_named_in(function: Function, name: str) -> bool:
    for node in function.proto.node_def:
        if node.op == name:
            return True
        for value in node.attr.values():
            if value.func.name == name or any(f.name == name for f in value.list.func):
                return True
    return False
