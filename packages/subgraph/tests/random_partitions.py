"""Random graphs, random selectors: what must hold of every partition, and what does not."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from partitions import graph_of

import drystone_base as ds
from drystone_base.graph import Graph, Node
from drystone_base.graph.validate import Signatures
from drystone_subgraph import (
    NodeSelector,
    PartitionConfig,
    SubgraphBackend,
    SubgraphProperty,
    SubgraphSelector,
)
from drystone_subgraph.context import wiring
from drystone_subgraph.fixed import fixed_reasons
from drystone_subgraph.grow import Field
from drystone_subgraph.partitioner import Partitioning
from drystone_subgraph.report import PartitionReport

__all__ = ["cyclic", "grown", "parts_differ", "random_graph", "values_differ"]


def random_graph(rng: random.Random) -> Graph:
    """Two to sixteen sums of earlier nodes, with control edges between some."""
    edges: dict[str, list[str]] = {"x": [], "y": []}
    reach = rng.choice((2, 4, 16))
    for k in range(rng.randrange(2, 17)):
        near = list(edges)[-reach:]
        edges[f"n{k}"] = [rng.choice(near) for _ in range(rng.choice((1, 1, 2, 3)))]
        if rng.random() < 0.2:
            edges[f"n{k}"].append("^" + rng.choice(near))
    return graph_of(edges)


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
    """How a random graph and a random partition of it differ in what they compute; or ""."""
    rng = random.Random(seed)
    graph = random_graph(rng)
    fetches = [n.name for n in graph if not graph.has_users(n) or rng.random() < 0.2]
    twin, report = graph.copy(), PartitionReport()
    chosen = [_Backend(rng, name) for name in ("a", "b")]
    work = Partitioning(twin, "", chosen, PartitionConfig(), report)
    work.run({twin[name] for name in fetches}, ())
    held = [name for segment in report.taken for name in segment.nodes]
    outside = {n.name for n in twin if not n.states("_subgraph_backend")}
    if len(set(held)) < len(held) or {*held, *outside} != {n.name for n in graph}:
        return f"seed {seed}: nodes are lost or there twice"
    feeds = {n.name: rng_array(k) for k, n in enumerate(graph) if n.op == "Placeholder"}
    config = ds.SessionConfig(optimizer="off", executor=executor, subgraphs="off")  # type: ignore[arg-type]
    before, after = (ds.Session(g, config).run(fetches, feeds) for g in (graph, twin))
    same = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    return "" if same else f"seed {seed}: {fetches} differ"


def rng_array(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Two numbers."""
    return np.random.default_rng(seed).random(2).astype(np.float32)
