"""Which functions a graph calls, and which those call."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final

from drystone_abi.protos import NodeDef
from drystone_base.core.errors import DrystoneError
from drystone_base.graph.functions import Bodies, Body, Function, FunctionLibrary
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node
from drystone_base.ops.attrs import FunctionRef

__all__ = [
    "BACKEND_ATTR",
    "called",
    "called_by_proto",
    "calls_function",
    "reachable_bodies",
    "reachable_functions",
    "recursive_functions",
]

BACKEND_ATTR: Final = "_subgraph_backend"
"""The attribute of a call that names the backend that runs the function."""

_NOT_THROUGH: Final = frozenset({"SymbolicGradient"})
_AS_THEY_ARE: Final = ("_XlaMustCompile", "_tf_data_function", "api_implements")
"""Attributes of functions that other code reads as they are."""


def reachable_functions(graph: Graph, left: Container[str] = ()) -> list[Function]:
    """Functions that nodes of the graph call, or that those call, in the order of being met.

    Not followed: nodes of datasets and of ``SymbolicGradient``, and functions of ``left``.
    """
    found: dict[str, Function] = {}
    queue = [name for node in graph for name in called(node, graph.functions)]
    for name in queue:
        function = graph.functions.get(name)
        if function is None or name in found or name in left:
            continue
        found[name] = function
        for proto in function.proto.node_def:
            queue.extend(called_by_proto(proto, graph.functions))
    return list(found.values())


def recursive_functions(
    library: FunctionLibrary, name: str, known: Mapping[str, bool]
) -> dict[str, bool]:
    """Of a function and those that it reaches, whether they may come to call themselves.

    Or one that does so. ``known``: what is known of some already, which are not gone through.
    """
    calls: dict[str, set[str]] = {}
    queue = [name]
    for at in queue:
        function = library.get(at)
        if at in calls or at in known or function is None:
            continue
        found = (n for proto in function.proto.node_def for n in called_by_proto(proto, library))
        calls[at] = {n for n in found if n in library}
        queue += calls[at]
    callers: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for at, called_here in calls.items():
        waiting[at] = sum(known.get(n, True) for n in called_here)
        for n in called_here:
            callers.setdefault(n, []).append(at)
    done = [at for at, count in waiting.items() if not count]
    for at in done:
        for caller in callers.get(at, ()):
            waiting[caller] -= 1
            if not waiting[caller]:
                done.append(caller)
    return {name: False} | dict.fromkeys(calls, True) | dict.fromkeys(done, False)


def reachable_bodies(
    graph: Graph,
    skip: Container[str] = (),
    left: Sequence[str] = (),
    bodies: Bodies | None = None,
) -> Iterator[tuple[Function, Body]]:
    """Functions that the graph reaches and their bodies, for who rewrites those.

    Not given: functions of ``skip``, those with one of the attributes ``left`` or one that says
    that they stay as they are, those whose attributes callers fill in, and bodies that do not hang
    together, which is reported when they are called. With ``bodies`` they are shared with others,
    and none may be edited.
    """
    kept = (*_AS_THEY_ARE, *left)
    for function in reachable_functions(graph, skip):
        if function.signature.attrs or any(function.attr(name) for name in kept):
            continue
        try:
            library = graph.functions
            body = bodies.of(function, library) if bodies else function.body(library)
        except DrystoneError:
            continue
        yield function, body


def called(node: Node, library: FunctionLibrary) -> Iterator[str]:
    """Functions that a node calls."""
    if node.op in library:
        yield node.op
    if node.op not in _NOT_THROUGH and not node.op.endswith("Dataset"):
        yield from _named(node)


def calls_function(node: Node) -> bool:
    """Whether an attribute of the node names a function."""
    return any(True for _ in _named(node))


def _named(node: Node) -> Iterator[str]:
    """Functions that attributes of a node name."""
    try:
        values = list(node.attrs.values())
    except DrystoneError:
        return
    for value in values:
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, FunctionRef):
                yield item.name


def called_by_proto(node: NodeDef, library: FunctionLibrary) -> Iterator[str]:
    """The same for a node of a function, as the function holds it."""
    if node.op in library:
        yield node.op
    if node.op in _NOT_THROUGH or node.op.endswith("Dataset"):
        return
    for name in sorted(node.attr):
        value = node.attr[name]
        kind = value.WhichOneof("value")
        if kind == "func":
            yield value.func.name
        elif kind == "list":
            yield from (inner.name for inner in value.list.func)
