"""Cutting regions out: each as a function, and an operator in its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from typing import Any

from drystone_base.core.dtypes import DType
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.rewiring import contract, forget_colocation
from drystone_base.ops.attrs import Shape
from drystone_subgraph.contract.subgraph import Subgraph, SubgraphNode
from drystone_subgraph.regions.region_function import RegionFunction, Types

__all__ = ["Region", "apply", "cut"]


class Region:
    """A region that becomes an operator: its nodes, what goes in and out, and what it waits for.

    ``types``: the dtypes of ``outputs``.
    """

    def __init__(self, members: Sequence[Node], name: str, node: SubgraphNode) -> None:
        self.members, self.name, self.node = members, name, node
        self.inputs: list[Output] = []
        self.outputs: list[Output] = []
        self.types: list[DType] = []
        self.controls: list[Node] = []


def cut(
    graph: Graph,
    members: Sequence[Node],
    fetched: Collection[Node],
    types: Types,
    names: tuple[str, str, str],
    shape: Callable[[Output], Shape],
    fed: Container[Output] = (),
) -> tuple[Subgraph, Region]:
    """The subgraph of ``members``, in the order of the graph, and the region that it is.

    ``names``: of the operator, the function and the backend. The members must stay as they are.
    """
    name, function_name, backend = names
    inside = frozenset(members)
    region = Region(members, name, SubgraphNode(""))
    region.inputs, region.controls = _sources(members, inside)
    region.outputs = _outputs(graph, members, inside, fetched, types)
    sources = [(o, types.dtype(o)) for o in region.inputs]
    region.types = [types.dtype(o) for o in region.outputs]
    results = list(zip(region.outputs, region.types, strict=True))
    is_stateful = any(node.op in types.stateful for node in members)
    made = RegionFunction(function_name, members, sources, results, is_stateful, types)
    from drystone_subgraph.regions.partitioner import partition_body

    return Subgraph(name, backend, made, graph.functions, shape, fed, partition_body), region


def _sources(members: Sequence[Node], inside: frozenset[Node]) -> tuple[list[Output], list[Node]]:
    """What comes from outside, in the order in which it is read, and what is waited for there."""
    seen: dict[Output, None] = {}
    waits: dict[Node, None] = {}
    for node in members:
        for output in node.inputs:
            if output[0] not in inside:
                seen[output] = None
        if node.controls:
            waits.update(dict.fromkeys(c for c in node.controls if c not in inside))
    return list(seen), list(waits)


def _outputs(
    graph: Graph,
    members: Sequence[Node],
    inside: frozenset[Node],
    fetched: Collection[Node],
    types: Types,
) -> list[Output]:
    """Outputs that nodes outside read, in the order of the nodes, then of their outputs."""
    found: list[Output] = []
    for node in members:
        users, is_fetched = graph.users(node), node in fetched
        if not is_fetched and inside.issuperset(users):
            continue
        used = {k for u in users if u not in inside for source, k in u.inputs if source is node}
        if is_fetched:
            used.update(range(len(types.of(node).outputs or ())))
        found += [(node, k) for k in sorted(used)]
    return found


def apply(graph: Graph, regions: Sequence[Region], fetched: Collection[Node]) -> None:
    """Put the operators in the place of their regions; fetched nodes keep their names."""
    made: dict[Node, Node] = {}
    moved: dict[Output, Output] = {}
    for region in regions:
        device, made_by = region.members[0].device, region.node
        operator = graph.add(
            made_by.op, region.name, region.inputs, controls=region.controls, device=device,
            attrs=made_by.attrs,
        )  # fmt: skip
        made.update(dict.fromkeys(region.members, operator))
        for k, output in enumerate(region.outputs):
            moved[output] = (operator, k)
    contract(graph, made, moved)
    forget_colocation(graph, [node.name for node in made])
    for region in regions:
        _keep_names(graph, region, made[region.members[0]], fetched)


def _keep_names(graph: Graph, region: Region, operator: Node, fetched: Collection[Node]) -> None:
    """Under the name of each fetched node of a region, a node with the same outputs."""
    found: dict[Node, list[int]] = {}
    for k, (source, _) in enumerate(region.outputs):
        found.setdefault(source, []).append(k)
    for node in region.members:
        if node not in fetched:
            continue
        places = found.get(node, [])
        values, types = [(operator, k) for k in places], [region.types[k] for k in places]
        if not values:
            graph.add("NoOp", node.name, controls=[operator], device=node.device)
        elif len(values) == 1:
            attrs: dict[str, Any] = {"T": types[0]}
            graph.add("Identity", node.name, values, device=node.device, attrs=attrs)
        else:
            graph.add("IdentityN", node.name, values, device=node.device, attrs={"T": types})
