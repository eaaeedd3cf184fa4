"""Random graphs, random selectors: what must hold of every partition, and what does not."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from partitions import graph_of

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph, Node, Output, output_name
from drystone_base.graph.validate import Signatures
from drystone_subgraph import (
    NodeSelector,
    PartitionConfig,
    Subgraph,
    SubgraphBackend,
    SubgraphNode,
    SubgraphProperty,
    SubgraphSelector,
)
from drystone_subgraph.regions.context import wiring
from drystone_subgraph.regions.grow import Field
from drystone_subgraph.regions.ineligible import fixed_reasons
from drystone_subgraph.regions.partitioner import Partitioning
from drystone_subgraph.regions.prune import needed_part
from drystone_subgraph.regions.report import PartitionReport

__all__ = ["cyclic", "grown", "parts_differ", "random_graph", "values_differ"]


def random_graph(rng: random.Random) -> Graph:
    """Two to sixteen sums or pairs of earlier nodes, with control edges between some."""
    graph = graph_of({"x": [], "y": []})
    outputs: list[Output] = [(node, 0) for node in graph]
    reach = rng.choice((2, 4, 16))
    for k in range(rng.randrange(2, 17)):
        near = outputs[-reach:]
        data = [rng.choice(near) for _ in range(rng.choice((1, 1, 2, 3)))]
        controls = [rng.choice(near)[0]] if rng.random() < 0.2 else []
        is_pair = len(data) == 2 and rng.random() < 0.4
        op, attrs = ("IdentityN", {"T": [FLOAT32] * 2}) if is_pair else ("AddN", _sum(len(data)))
        node = graph.add(op, f"n{k}", data, controls=controls, attrs=attrs)
        outputs += [(node, slot) for slot in range(1 + is_pair)]
    return graph


def _sum(count: int) -> dict[str, Any]:
    return {"T": FLOAT32, "N": count}


class _Random(SubgraphSelector):
    """Answers at random, as its state has it; may drop nodes in the end."""

    def __init__(self, rng: random.Random) -> None:
        self.stateful = rng.random() < 0.5
        self.rng, self.chance, self.drops = rng, rng.choice((0.5, 0.8, 1.0)), rng.random() < 0.3
        self.wanted: dict[str, bool] = {}
        self.given = 0

    def reset(self) -> None:
        self.given = 0

    def _likes(self, node: Node) -> bool:
        self.given += 1
        if self.stateful:
            return self.given < 6 and self.rng.random() < self.chance
        return self.wanted.setdefault(node.name, self.rng.random() < self.chance)

    def select(self, node: Node) -> bool:
        return self._likes(node)

    def select_input(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        return self._likes(new_node)

    def select_output(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        return self._likes(new_node)

    def filter(self, candidates: Sequence[Node]) -> Sequence[Node]:
        if not self.drops:
            return candidates
        return [node for node in candidates if self.rng.random() < 0.7]


class _Each(NodeSelector):
    """Wants nodes drawn beforehand, whatever is next to them."""

    def __init__(self, rng: random.Random) -> None:
        chance = rng.choice((0.5, 0.8, 1.0))
        self.names = {f"n{k}" for k in range(16) if rng.random() < chance}

    def wants(self, node: Node) -> bool:
        return node.name in self.names


class _Grown(_Each):
    """The same, found node by node."""

    def filter(self, candidates: Sequence[Node]) -> Sequence[Node]:
        return candidates


def _selector(rng: random.Random) -> SubgraphSelector:
    return _Each(rng) if rng.random() < 0.3 else _Random(rng)


class _Rule(SubgraphProperty):
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.minimum_size = rng, rng.choice((1, 1, 2))

    def create_subgraph_selector(self) -> SubgraphSelector:
        return _selector(self.rng)

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        if self.rng.random() < 0.7:
            return subgraph.node()
        first = self.rng.randrange(len(subgraph.nodes))
        return subgraph.narrow(subgraph.nodes[first : first + 1 + self.rng.randrange(8)])


class _Backend(SubgraphBackend):
    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng, self.name = rng, name

    def properties(self) -> Sequence[SubgraphProperty]:
        return [_Rule(self.rng) for _ in range(self.rng.choice((1, 2)))]


def grown(seed: int) -> tuple[Graph, list[list[Node]]]:
    """A random graph and the regions that a few random selectors grow in it."""
    rng = random.Random(seed)
    graph = random_graph(rng)
    wired = wiring(graph)
    order = wired.order
    fixed = fixed_reasons(order, (), (), Signatures())
    field, found = Field(wired, fixed), []
    for _ in range(rng.choice((1, 2, 3))):
        refused = []
        for region in field.regions(_selector(rng)):
            if rng.random() < 0.8:
                field.take(region)
                found.append([order[k] for k in region])
            else:
                refused += region
        field.next_pass(refused)
    return graph, found


def parts_differ(seed: int) -> str:
    """How regions found all at once and node by node differ in a graph without control edges."""
    rng = random.Random(seed)
    graph = random_graph(rng)
    for node in graph:
        graph.set_controls(node, [])
    wired = wiring(graph)
    fixed = fixed_reasons(wired.order, (), (), Signatures())
    start, found = rng.random(), []
    for kind in (_Each, _Grown):
        again, field, refused = random.Random(start), Field(wired, fixed), list[int]()
        for region in field.regions(kind(again)):
            if again.random() < 0.5:
                field.take(region)
            else:
                refused += region
        field.next_pass(refused)
        found.append([field.taken, list(field.regions(kind(again)))])
    return "" if found[0] == found[1] else f"seed {seed}: {found[0]} and {found[1]}"


def cyclic(graph: Graph, regions: Sequence[Sequence[Node]]) -> str:
    """What is wrong: a node is in two regions, one hangs apart, or they make a cycle; or ""."""
    owner: dict[Node, int] = {}
    for k, region in enumerate(regions):
        for node in region:
            if owner.setdefault(node, k) != k:
                return f"{node.name} is in two regions"
        if not _connected(region):
            return f"region {[n.name for n in region]} is not connected"
    group = {node: owner.get(node, len(regions) + k) for k, node in enumerate(graph)}
    waits: dict[int, set[int]] = {g: set() for g in group.values()}
    for node in graph:
        for source in (*(s for s, _ in node.inputs), *node.controls):
            if group[source] != group[node]:
                waits[group[node]].add(group[source])
    left = dict(waits)
    while left:
        ready = [g for g, sources in left.items() if not sources & left.keys()]
        if not ready:
            return f"a cycle through {sorted(left)}"
        for g in ready:
            del left[g]
    return ""


def _connected(region: Sequence[Node]) -> bool:
    inside, reached, todo = set(region), {region[0]}, [region[0]]
    near: dict[Node, set[Node]] = {node: set() for node in region}
    for node in region:
        for source in (*(s for s, _ in node.inputs), *node.controls):
            if source in inside:
                near[node].add(source)
                near[source].add(node)
    while todo:
        for other in near[todo.pop()] - reached:
            reached.add(other)
            todo.append(other)
    return reached == inside


def values_differ(seed: int, executor: str = "reference") -> str:
    """How a random graph and a random partition of it differ in what they compute; or "".

    What no fetch needs is in no region, and placeholders that are not needed are not fed.
    """
    rng = random.Random(seed)
    graph = random_graph(rng)
    fetches = [(n, 0) for n in graph if not graph.has_users(n) or rng.random() < 0.2]
    fed = {(n, k) for n in graph if rng.random() < 0.1 for k in _outputs(n) if rng.random() < 0.7}
    needed = _needed([o[0] for o in fetches if o not in fed], fed)
    fed |= {(n, 0) for n in needed if n.op == "Placeholder"}
    twin, idle = needed_part(graph, fetches, fed)
    chosen, report = [_Backend(rng, name) for name in ("a", "b")], PartitionReport()
    work = Partitioning(twin, "", chosen, PartitionConfig(), report, idle=idle)
    work.run({twin[n.name] for n, _ in fetches}, {(twin[n.name], k) for n, k in fed})
    held = [name for segment in report.taken for name in segment.nodes]
    outside = {n.name for n in twin if not n.states("_subgraph_backend")}
    names = {node.name for node in needed}
    if len(set(held)) < len(held) or not names.issuperset(held):
        return f"seed {seed}: nodes are in regions twice, or do not run"
    if not names.issubset({*held, *outside}):
        return f"seed {seed}: nodes are lost"
    feeds = {output_name(o): rng_array(k) for k, o in enumerate(sorted(fed, key=output_name))}
    asked = [output_name(fetch) for fetch in fetches]
    config = ds.SessionConfig(optimizer="off", executor=executor, subgraphs="off")  # type: ignore[arg-type]
    before, after = (ds.Session(g, config).run(asked, feeds) for g in (graph, twin))
    same = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    return "" if same else f"seed {seed}: {asked} differ for {list(feeds)}"


def _outputs(node: Node) -> range:
    return range(2 if node.op == "IdentityN" else 1)


def _needed(targets: Sequence[Node], fed: Collection[Output]) -> set[Node]:
    """The nodes that must run, found step by step: nobody waits for a node that is fed."""
    passive = {node for node, _ in fed}
    found, size = set(targets), -1
    while len(found) > size:
        size = len(found)
        found |= {o[0] for node in found for o in node.inputs if o not in fed}
        found |= {c for node in found for c in node.controls if c not in passive}
    return found


def rng_array(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Two numbers."""
    return np.random.default_rng(seed).random(2).astype(np.float32)
