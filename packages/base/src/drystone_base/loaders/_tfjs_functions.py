"""Functions of TensorFlow.js graphs: those that something calls, of the model and its initializer.

The converter writes whole libraries, and weights only for what is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from drystone_abi.protos import AttrValue, FunctionDef, GraphDef, NodeDef

__all__ = ["drop_uncalled", "join_functions"]


def drop_uncalled(graph: GraphDef) -> None:
    """Take the functions out of a graph's library that none of its nodes reaches."""
    library = {f.signature.name: f for f in graph.library.function}
    if not library:
        return
    gradients = {g.function_name: g.gradient_func for g in graph.library.gradient}
    reached: set[str] = set()
    pending = list(_named(graph.node))
    while pending:
        name = pending.pop()
        if name in library and name not in reached:
            reached.add(name)
            pending += [*_named(library[name].node_def), gradients.get(name, "")]
    kept = [f for name, f in library.items() if name in reached]
    rules = [g for g in graph.library.gradient if g.function_name in reached]
    whole = GraphDef()
    whole.library.function.extend(kept)
    whole.library.gradient.extend(rules)
    graph.library.CopyFrom(whole.library)


def join_functions(graph: GraphDef, other: GraphDef) -> list[str]:
    """Add the other graph's functions; the names of those that both have, with other bodies."""
    known = {f.signature.name: f for f in graph.library.function}
    differing = []
    for function in other.library.function:
        twin: FunctionDef | None = known.get(function.signature.name)
        if twin is None:
            graph.library.function.append(function)
        elif twin != function:
            differing.append(function.signature.name)
    graph.library.gradient.extend(
        g for g in other.library.gradient if g not in graph.library.gradient
    )
    return differing


def _named(nodes: Iterable[NodeDef]) -> Iterator[str]:
    """What nodes may call: their ops, and the functions that attributes name."""
    for node in nodes:
        yield node.op
        for value in node.attr.values():
            yield from _functions_of(value)


def _functions_of(value: AttrValue) -> Iterator[str]:
    for function in (value.func, *value.list.func):
        if function.name:
            yield function.name
            for inner in function.attr.values():
                yield from _functions_of(inner)
