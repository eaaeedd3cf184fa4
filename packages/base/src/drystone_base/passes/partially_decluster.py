"""Nodes that gain nothing by being compiled leave their cluster."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Graph, Node
from drystone_base.ops.properties import SHAPE_ONLY
from drystone_base.passes._bodies import with_bodies
from drystone_base.passes._clusters import CLUSTER
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._types import Grouping, PassOptions

__all__ = ["partially_decluster"]

_CHEAP: Final = frozenset({"Const"})


@graph_pass(Grouping.POST_REWRITE_FOR_EXEC, 30, name="PartiallyDeclusterPass", is_default=False)
@with_bodies
def partially_decluster(options: PassOptions) -> bool:
    """Take shape ops out of the beginnings and ends of clusters, and copy constants out (exact).

    A shape op whose input comes from outside, or that only nodes outside read, costs nothing there
    and a transfer, or a wait, inside. A constant that is also read outside is copied, so that the
    cluster need not give it back. Source: TensorFlow's ``PartiallyDeclusterPass``.
    """
    assert options.graph is not None
    graph = options.graph
    kept = {graph.output(name)[0] for name in (*options.fetches, *options.feeds)}
    changed = False
    for node in [node for node in graph if node.states(CLUSTER)]:
        if node.op in SHAPE_ONLY and (_begins(node) or _ends(graph, node)):
            graph.remove_attr(node, CLUSTER)
            changed = True
        elif node.op in _CHEAP and node not in kept:
            changed |= _copy_out(graph, node)
    return changed


def _is_inside(node: Node, cluster: object) -> bool:
    return node.states(CLUSTER) and node.attrs[CLUSTER] == cluster


def _begins(node: Node) -> bool:
    sources = [*(s for s, _ in node.inputs), *node.controls]
    return not any(_is_inside(s, node.attrs[CLUSTER]) for s in sources)


def _ends(graph: Graph, node: Node) -> bool:
    users = [*(u for u, _ in graph.consumers(node)), *graph.control_consumers(node)]
    return not any(_is_inside(u, node.attrs[CLUSTER]) for u in users)


def _copy_out(graph: Graph, node: Node) -> bool:
    users = dict.fromkeys(user for user, _ in graph.consumers(node))
    outside = [u for u in users if not _is_inside(u, node.attrs[CLUSTER])]
    if not outside or any(_is_inside(c, node.attrs[CLUSTER]) for c in node.controls):
        return False
    twin = graph.adopt(node, graph.unique_name(f"{node.name}/declustered"))
    graph.remove_attr(twin, CLUSTER)
    graph.set_controls(twin, node.controls)
    for user in outside:
        graph.set_inputs(user, [(twin, 0) if o[0] is node else o for o in user.inputs])
    return True
