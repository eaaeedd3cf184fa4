"""Nodes that say that they are one computation become one call."""

from __future__ import annotations

from typing import Final

from drystone_base.passes._clusters import by_cluster, convex, encapsulate
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._types import Grouping, PassOptions

__all__ = ["encapsulate_computations"]

_COMPUTATION: Final = "_xla_compile_id"


@graph_pass(Grouping.PRE_PLACEMENT, 26, name="EncapsulateComputationsPass", is_default=False)
def encapsulate_computations(options: PassOptions) -> bool:
    """Put the nodes that share an ``_xla_compile_id`` into one function, which is called (exact).

    A computation that has something fed inside, or that a path leaves and comes back to, stays as
    it is. Source: TensorFlow's ``EncapsulateXlaComputationsPass``.
    """
    assert options.graph is not None
    graph = options.graph
    fed = {graph.output(name)[0] for name in options.feeds}
    kept = fed | {graph.output(name)[0] for name in options.fetches}
    found = by_cluster(graph, _COMPUTATION)
    whole = {name: nodes for name, nodes in found.items() if fed.isdisjoint(nodes)}
    made = [encapsulate(graph, n, name, kept) for name, n in convex(graph, whole).items()]
    return any(call is not None for call in made)
