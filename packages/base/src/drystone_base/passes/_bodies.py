"""Passes of the cluster family on bodies of functions: they do to those what they do to a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Final, TypeAlias

from drystone_base.graph import Body, Function, Graph, body_to_function
from drystone_base.graph.calls import reachable_bodies
from drystone_base.passes._clusters import CALL
from drystone_base.passes._types import PassOptions

__all__ = ["with_bodies"]

_Run: TypeAlias = Callable[[PassOptions], bool]
_READS: Final = frozenset({"ReadVariableOp"})


def with_bodies(run: _Run) -> _Run:
    """The pass on a graph, then on the body of each function that it reaches.

    Left alone are the functions of clusters, those whose attributes callers fill in, and bodies of
    datasets and of gradients.
    """

    @wraps(run)
    def on_all(options: PassOptions) -> bool:
        changed = run(options)
        assert options.graph is not None
        graph = options.graph
        for function, body in reachable_bodies(graph, _functions_of_clusters(graph)):
            changed = _on_body(graph, function, body, options, run) or changed
        return changed

    return on_all


def _functions_of_clusters(graph: Graph) -> set[str]:
    found = {node.attrs["f"].name for node in graph if node.states(CALL)}
    for function in graph.functions:
        called = (proto for proto in function.proto.node_def if CALL in proto.attr)
        found.update(proto.attr["f"].func.name for proto in called)
    return found


def _on_body(graph: Graph, function: Function, body: Body, options: PassOptions, run: _Run) -> bool:
    inside = replace(
        options, graph=body.graph, fetches=_ends(body, function),
        feeds=[f"{node.name}:0" for node in body.args], is_function_graph=True,
    )  # fmt: skip
    if not run(inside):
        return False
    body.effects = [node for node in body.effects if body.graph.get(node.name) is node]
    graph.functions.add(body_to_function(body, function.proto), replace=True)
    return True


def _ends(body: Body, function: Function) -> list[str]:
    """Nodes that must stay: results, and what runs for its effect; not what only reads."""
    named = set(function.proto.control_ret.values())
    effects = (n.name for n in body.effects if n.name in named or n.op not in _READS)
    return [*(node.name for node in body.results), *effects]
