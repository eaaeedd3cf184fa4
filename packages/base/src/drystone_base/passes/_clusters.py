"""What the passes that find and cut out clusters share: marks, and a call in place of nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from drystone_base.graph import Graph, Node, Output, reachable
from drystone_base.graph.contraction import Contraction
from drystone_base.graph.extract import Extract, add_function, output_dtype
from drystone_base.graph.validate import Signatures
from drystone_base.ops.attrs import FunctionRef
from drystone_base.passes._rewriting import become_identity
from drystone_base.passes._types import PassOptions

__all__ = ["CALL", "CLUSTER", "by_cluster", "convex", "encapsulate", "needed_nodes"]

CLUSTER: Final = "_cluster"
"""The attribute of a node that names the cluster that it is in."""
CALL: Final = "_cluster_call"
"""The attribute of a call that stands for a cluster; its value is the cluster's name."""


def needed_nodes(options: PassOptions) -> tuple[set[Node], set[Node]]:
    """What the fetches need (all nodes, where nothing is said), and what is fetched or fed."""
    assert options.graph is not None
    graph = options.graph
    fed = {graph.output(name) for name in options.feeds}
    kept = {graph.output(name)[0] for name in options.fetches} | {node for node, _ in fed}
    needed = {*reachable(kept, fed=fed), *kept} if options.fetches else set(graph)
    return needed, kept


def by_cluster(nodes: Iterable[Node], attr: str = CLUSTER) -> dict[str, list[Node]]:
    """The nodes of each cluster, in order; names in order of their first nodes."""
    found: dict[str, list[Node]] = {}
    for node in nodes:
        if node.states(attr):
            name = node.attrs[attr]
            text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
            found.setdefault(text, []).append(node)
    return found


def convex(graph: Graph, clusters: dict[str, list[Node]]) -> dict[str, list[Node]]:
    """Those clusters that can all be one node each without a cycle; the first ones have it."""
    regions = Contraction(graph)
    found: dict[str, list[Node]] = {}
    for name, nodes in clusters.items():
        if _joins(regions, nodes):
            found[name] = nodes
            continue
        regions = Contraction(graph)  # without what was joined in vain
        for known in found.values():
            _joins(regions, known)
    return found


def _joins(regions: Contraction, nodes: list[Node]) -> bool:
    """Join nodes in order, so that a path between two of them is refused only if it leads out."""
    order = sorted(nodes, key=regions.numbers.__getitem__)
    return all(regions.join(order[0], node) for node in order[1:])


def encapsulate(graph: Graph, nodes: list[Node], name: str, kept: Collection[Node]) -> Node | None:
    """Put a call of a function in the place of nodes; None where it cannot be done.

    What is read outside comes out; nodes of ``kept`` stay under their names and hand on what they
    gave. It cannot be done where a dtype is not known, or is that of a reference.
    """
    signatures, members = Signatures(), set(nodes)
    taken = list(dict.fromkeys(o for n in nodes for o in n.inputs if o[0] not in members))
    given = [o for n in nodes for o in _outputs(graph, n, members, n in kept, signatures)]
    types = {o: output_dtype(o, signatures) for o in (*taken, *given)}
    if None in types.values() or any(signatures.of(n) is None for n in nodes):
        return None
    known = {o: t for o, t in types.items() if t is not None}
    made = Extract(graph, [(o, known[o]) for o in taken], nodes)
    for node in made.graph:
        made.graph.remove_attr(node, CLUSTER)
    awaited = [n for n in nodes if n in kept or not members.issuperset(graph.control_consumers(n))]
    effects = [made.place((node, 0))[0] for node in awaited]
    body = made.finish([(made.place(o), known[o]) for o in given], effects)
    op = "StatefulPartitionedCall" if body[1].signature.is_stateful else "PartitionedCall"
    attrs = {
        "f": FunctionRef(add_function(graph, f"{name}_function", *body)),
        "Tin": [known[o] for o in taken],
        "Tout": [known[o] for o in given],
        CALL: name,
    }
    waits = dict.fromkeys(c for n in nodes for c in n.controls if c not in members)
    call = graph.add(
        op, graph.unique_name(name), taken, controls=list(waits), device=nodes[0].device,
        attrs=attrs,
    )  # fmt: skip
    _take_place(graph, call, nodes, given, kept, known)
    return call


def _outputs(
    graph: Graph, node: Node, members: Collection[Node], is_kept: bool, signatures: Signatures
) -> list[Output]:
    if is_kept:
        signature = signatures.of(node)
        return [(node, k) for k in range(len((signature and signature.outputs) or ()))]
    read = {u.inputs[k][1] for u, k in graph.consumers(node) if u not in members}
    return [(node, k) for k in sorted(read)]


def _take_place(
    graph: Graph, call: Node, nodes: list[Node], given: list[Output], kept: Collection[Node],
    types: dict[Output, Any],
) -> None:  # fmt: skip
    places = {output: (call, k) for k, output in enumerate(given)}
    members = set(nodes)
    for user in dict.fromkeys(u for n in nodes for u, _ in graph.consumers(n) if u not in members):
        graph.set_inputs(user, [places.get(o, o) for o in user.inputs])
    for user in dict.fromkeys(u for n in nodes for u in graph.control_consumers(n)):
        if user not in members:
            graph.set_controls(user, [call if c in members else c for c in user.controls])
    for node in nodes:
        if node in kept:
            own = [o for o in given if o[0] is node]
            controls = [] if own else [call]
            become_identity(
                graph, node, [places[o] for o in own], [types[o] for o in own], controls
            )
    graph.remove([node for node in nodes if node not in kept])
