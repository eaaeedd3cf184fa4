"""The inverse of lowering: Switch, Merge and frames become If, Case and While with functions."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import Final

from drystone_base.graph import Graph, Node, body_to_function, reachable
from drystone_base.graph.functions import Function
from drystone_base.passes._functional_branches import branches_to_ifs
from drystone_base.passes._functional_loops import loops_to_whiles
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._types import Grouping, PassOptions

__all__ = ["functionalize_control_flow"]

_OPS: Final = frozenset({"Merge", "Enter"})


@graph_pass(Grouping.PRE_PLACEMENT, 27, name="FunctionalizeControlFlowPass", is_default=False)
def functionalize_control_flow(options: PassOptions) -> bool:
    """Make branches and loops of Switch, Merge and frames If, Case and While (exact).

    Innermost first, in the graph and in the bodies of its functions. The Merges and Exits keep
    their names. What is no plain branch or loop stays: one of which something inside is fed or
    fetched, whose values may be dead, or that holds a reference. Of use for tools that know
    functions only, and for compilers. Source: TensorFlow's ``FunctionalizeControlFlowPass``.
    """
    assert options.graph is not None
    graph = options.graph
    fed = {graph.output(name) for name in options.feeds}
    kept = {graph.output(name)[0] for name in options.fetches} | {node for node, _ in fed}
    needed = {*reachable(kept, fed=fed), *kept} if options.fetches else set(graph)
    changed = _functionalize_needed(graph, needed, kept)
    for function in list(graph.functions):
        changed |= _in_function(graph, function)
    return changed


def _functionalize_needed(graph: Graph, needed: AbstractSet[Node], kept: Collection[Node]) -> bool:
    """The same for what is needed: one If for two Merges must not run what neither waits for."""
    if len(needed) == len(graph):
        return _functionalize(graph, kept)
    trial = graph.copy(only=needed)
    if not _functionalize(trial, {trial[node.name] for node in kept}):
        return False
    graph.remove([node for node in graph if node not in needed])
    return _functionalize(graph, kept)


def _functionalize(graph: Graph, kept: Collection[Node]) -> bool:
    if _OPS.isdisjoint(node.op for node in graph):
        return False
    changed = loops_to_whiles(graph, kept, _functionalize)
    return branches_to_ifs(graph, kept) or changed


def _in_function(graph: Graph, function: Function) -> bool:
    """A function without attributes of its own, whose body is one graph for all callers."""
    if function.signature.attrs or _OPS.isdisjoint(function.ops()):
        return False
    body = function.body(graph.functions)
    kept = {*body.args, *body.results, *body.effects}
    needed = {*reachable(kept), *kept}
    named = {body.graph[name] for name in function.proto.control_ret.values()}
    if not _functionalize_needed(body.graph, needed, {*body.args, *body.results, *named}):
        return False
    body.graph.functions = graph.functions
    graph.functions.add(body_to_function(body, function.proto), replace=True)
    return True
