"""Graphs and backends for tests of partitioning, and what must hold of every partition."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph, Node, topological_order
from drystone_subgraph import (
    ContainOpProperty,
    PartitionConfig,
    PartitionReport,
    SubgraphBackend,
    SubgraphProperty,
    SubgraphSelector,
    partition_with_report,
    register_backend,
)

__all__ = [
    "Named",
    "Rule",
    "backend",
    "chain",
    "check",
    "graph_of",
    "only",
    "partitioned",
    "regions",
]  # fmt: skip


class Rule(SubgraphProperty):
    """A property around one selector."""

    name = "rule"

    def __init__(self, selector: SubgraphSelector | Callable[[], SubgraphSelector]) -> None:
        self.make = selector if callable(selector) else lambda: selector

    def create_subgraph_selector(self) -> SubgraphSelector:
        """The selector."""
        return self.make()


class Named(SubgraphSelector):
    """Selects nodes for which a function of the name is true."""

    stateful = False

    def __init__(self, wanted: Callable[[str], bool]) -> None:
        self.wanted = wanted

    def select(self, node: Node) -> bool:
        """By name."""
        return self.wanted(node.name)

    def select_input(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        """By name."""
        return self.wanted(new_node.name)

    def select_output(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        """By name."""
        return self.wanted(new_node.name)


class _Backend(SubgraphBackend):
    def __init__(self, name: str, rules: Sequence[SubgraphProperty]) -> None:
        self.name, self.rules = name, rules

    def properties(self) -> Sequence[SubgraphProperty]:
        return self.rules


def backend(name: str, *rules: SubgraphProperty) -> str:
    """Register a backend of these properties; gives its name."""
    register_backend(_Backend(name, rules))
    return name


def only(name: str, ops: Collection[str], minimum_size: int = 1) -> str:
    """Register a backend that takes these ops; gives its name."""
    return backend(name, ContainOpProperty(ops, minimum_size=minimum_size))


def graph_of(edges: Mapping[str, Sequence[str]]) -> Graph:
    """A graph of placeholders (nothing is read) and sums of what is read, by name."""
    graph = Graph()
    for name, read in edges.items():
        if not read:
            graph.add("Placeholder", name, attrs={"dtype": FLOAT32, "shape": (2,)})
            continue
        data = [graph[r] for r in read if not r.startswith("^")]
        controls = [graph[r[1:]] for r in read if r.startswith("^")]
        attrs = {"T": FLOAT32, "N": len(data)}
        graph.add("AddN", name, data, controls=controls, attrs=attrs)
    return graph


def chain(count: int) -> Graph:
    """``x``, then n0, n1, ...: each reads the one before."""
    return graph_of({"x": [], "n0": ["x"]} | {f"n{k}": [f"n{k - 1}"] for k in range(1, count)})


def partitioned(
    graph: Graph, backends: str, fetches: Sequence[str] = (), **config: object
) -> tuple[Graph, PartitionReport]:
    """The graph for these backends; without ``fetches`` all that nothing reads is fetched."""
    ends = fetches or [n.name for n in graph if not graph.has_users(n)]
    settings = PartitionConfig(tuple(backends.split(",")), **config)  # type: ignore[arg-type]
    return partition_with_report(graph, ends, (), settings)


def regions(report: PartitionReport) -> list[list[str]]:
    """The names of the nodes of each region that was taken."""
    return [list(segment.nodes) for segment in report.taken]


def check(graph: Graph, after: Graph, report: PartitionReport, fetches: Sequence[str]) -> None:
    """Nothing is lost or there twice, there is no cycle, and the same comes out."""
    topological_order(after)
    held = [name for segment in report.taken for name in segment.nodes]
    assert len(set(held)) == len(held)
    outside = {node.name for node in after if not node.states("_subgraph_backend")}
    assert {*held, *outside} == {node.name for node in graph}
    assert {*held} & outside <= {name.split(":")[0] for name in fetches}
    feeds = {
        node.name: np.random.default_rng(k).random(2).astype(np.float32)
        for k, node in enumerate(graph)
        if node.op == "Placeholder"
    }
    config = ds.SessionConfig(optimizer="off", executor="reference")
    values = [ds.Session(g, config).run(list(fetches), feeds) for g in (graph, after)]
    for expected, found in zip(*values, strict=True):
        np.testing.assert_array_equal(found, expected)
