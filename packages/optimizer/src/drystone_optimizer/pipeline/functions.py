"""Optimizers on the bodies of functions.

The rule: a function that the graph reaches is optimized once per call of ``optimize``, as a graph
whose fetches are its results and whose feeds are its arguments. Passed over are functions whose
attributes are filled in by their callers, those marked for compilation or as not to be touched,
gradients of ``SymbolicGradient``, and bodies of datasets. State never leaves a body: every node
with state is preserved. A plugin sees the bodies that use its device type, see ``devices``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_abi.protos import FunctionDef
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import (
    Bodies,
    Body,
    Function,
    FunctionLibrary,
    Graph,
    Node,
    body_to_function,
)
from drystone_base.graph.calls import reachable_bodies, reachable_functions
from drystone_optimizer.core.devices import body_types
from drystone_optimizer.core.preserve import marked, with_state

if TYPE_CHECKING:
    from drystone_optimizer.pipeline.plugin_runs import PluginRuns
    from drystone_optimizer.plugins.sources import Optimizer

__all__ = [
    "Place",
    "body_ends",
    "optimize_bodies",
    "plugin_on_bodies",
    "with_body",
    "with_new",
]


class Place(NamedTuple):
    """Whose place a graph takes: that of the main graph, or of the body of the function ``where``.

    ``whole`` puts it there, which gives a graph that can be run; ``main`` is the graph that calls
    the function. ``taken``: functions that there are by then, which the body need not know.
    """

    where: str = ""
    whole: Callable[[Graph], Graph] = lambda graph: graph
    main: Graph | None = None
    taken: FunctionLibrary | None = None


_LEFT: Final = ("_grappler_do_not_remove",)


def optimize_bodies(
    graph: Graph, optimize: Callable[[Function, Body], Graph], bodies: Bodies | None = None
) -> Graph:
    """The graph with each body of a function that it reaches as ``optimize`` gives it.

    ``optimize`` gives ``body.graph`` itself for no change, and may edit it unless ``bodies`` are
    shared with others.
    """
    changed: dict[str, FunctionDef] = {}
    library = graph.functions.copy()
    for function, body in reachable_bodies(graph, left=_LEFT, bodies=bodies):
        body.graph.functions = library  # with what was made for bodies before: names differ
        after = optimize(function, body)
        found = None if after is body.graph else _as_function(after, body, function)
        if found is not None:
            changed[function.name] = found
            _add_made(library, after.functions)
    if not changed:
        return graph
    twin = graph.copy()
    twin.functions = library
    for proto in changed.values():
        twin.functions.add(proto, replace=True)
    return twin


def with_body(graph: Graph, body_graph: Graph, body: Body, function: Function) -> Graph:
    """A copy of ``graph`` in which the function has another graph as its body."""
    twin = graph.copy()
    proto = _as_function(body_graph, body, function)
    if proto is not None:
        twin.functions.add(proto, replace=True)
        _add_made(twin.functions, body_graph.functions)
    return twin


def with_new(graph: Graph, made: FunctionLibrary, place: Place) -> FunctionLibrary:
    """The functions of a body, and those that an optimizer made for it; others are as they were.

    Raises ``GraphError`` (``duplicate-function``) for a new one under a name that is taken.
    """
    found = graph.functions.copy()
    for function in made:
        if function.name in found:
            continue
        found.add(function)
        if place.taken is not None:
            _hold_name(place.taken, function)
    return found


def _hold_name(taken: FunctionLibrary, function: Function) -> None:
    other = taken.get(function.name)
    if other is not None and other.proto != function.proto:
        taken.copy().add(function)


def _add_made(library: FunctionLibrary, made: FunctionLibrary) -> None:
    """Add the functions that were made for a body to the library of the whole graph."""
    for function in made:
        if function.name not in library:
            library.add(function)


def plugin_on_bodies(graph: Graph, optimizer: Optimizer, run: PluginRuns) -> Graph:
    """The graph with the bodies of its functions as a plugin's optimizer leaves them."""
    types = body_types(graph)

    def optimize(function: Function, body: Body) -> Graph:
        taken = body.graph.functions
        try:
            if optimizer.device not in types[function.name]:
                return body.graph
            body.graph.functions = _needed(body.graph)
        except DrystoneError:
            return body.graph
        preserve = body_ends(body)
        fetches, feeds = [r.name for r in body.results], [a.name for a in body.args]
        data = body.graph.to_bytes()

        def whole(after: Graph) -> Graph:
            return graph if after is body.graph else with_body(graph, after, body, function)

        place = Place(function.name, whole, graph, taken)
        return run.one(optimizer, body.graph, data, fetches, feeds, preserve, place)[0]

    return optimize_bodies(graph, optimize)


def body_ends(body: Body) -> frozenset[str]:
    """Names of the nodes of a body that must stay: its ends, all with state, and marked ones.

    A config's own names are of nodes of the graph around it.
    """
    ends = [node.name for node in (*body.args, *body.results, *body.effects)]
    return frozenset([*ends, *with_state(body.graph), *marked(body.graph)])


def _needed(graph: Graph) -> FunctionLibrary:
    """The functions that a body reaches: what its GraphDef must carry."""
    library = FunctionLibrary()
    for function in reachable_functions(graph):
        library.add(function.proto)
    return library


def _as_function(after: Graph, body: Body, function: Function) -> FunctionDef | None:
    def same(nodes: Iterable[Node]) -> list[Any]:
        return [after[node.name] for node in nodes]

    made = Body(after, same(body.args), same(body.results), same(body.effects))
    try:
        return body_to_function(made, function.proto)
    except DrystoneError:
        return None
