"""Each cluster becomes a function, and a call of it."""

from __future__ import annotations

from drystone_base.passes._bodies import with_bodies
from drystone_base.passes._clusters import by_cluster, convex, encapsulate, needed_nodes
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._types import Grouping, PassOptions

__all__ = ["encapsulate_subgraphs"]


@graph_pass(Grouping.POST_REWRITE_FOR_EXEC, 40, name="EncapsulateSubgraphsPass", is_default=False)
@with_bodies
def encapsulate_subgraphs(options: PassOptions) -> bool:
    """Put the nodes of each cluster into a function, which is called in their place (exact).

    Fetched nodes stay under their names and hand on what the call gives. A cluster that a path
    leaves and comes back to stays as it is. Source: TensorFlow's ``EncapsulateSubgraphsPass``.
    """
    assert options.graph is not None
    graph = options.graph
    needed, kept = needed_nodes(options)
    fed = {graph.output(name)[0] for name in options.feeds}
    found = by_cluster(node for node in graph if node in needed)
    whole = {name: nodes for name, nodes in found.items() if fed.isdisjoint(nodes)}
    if not whole:
        return False
    for node in [node for node in graph if node not in needed]:
        graph.set_inputs(node, ())
        graph.set_controls(node, ())
    graph.remove([node for node in graph if node not in needed])
    made = [encapsulate(graph, n, name, kept) for name, n in convex(graph, whole).items()]
    return any(call is not None for call in made)
