"""Formats of a backend: converted where a region begins or ends, and nowhere else."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from interpreter import Compiling, Interpreter
from partitions import chain
from random_partitions import random_graph, rng_array

import drystone_base as ds
from drystone_base.graph import Graph, Node, Output, reachable
from drystone_subgraph import CompileRequest, PartitionConfig, executables, partition_with_report

Array = np.ndarray[Any, Any]


class Blocked(Interpreter):
    """Counts values that come in plain and go out plain: each is converted once."""

    conversions = 0

    def __init__(self, request: CompileRequest) -> None:
        super().__init__(request)
        self.borders = len(request.inputs) + len(request.output_types)

    def __call__(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """The results; counts."""
        found = super().__call__(inputs)
        assert len(inputs) + len(found) == self.borders
        Blocked.conversions += self.borders
        return found


SETTINGS = PartitionConfig(("fake",), exclude=("n2", "n5", "n8"))


def converted(graph: Graph, fetches: list[str], feeds: dict[str, Array], config: Any) -> int:
    """How many conversions a run makes."""
    session = ds.Session(graph, ds.SessionConfig(subgraphs=config, optimizer="off"))
    Blocked.conversions = 0
    session.run(fetches, feeds)
    assert all(e.state == "ready" for e in executables(session))
    return Blocked.conversions


@pytest.mark.parametrize("length", [1, 2, 7, 30])
def test_a_chain_is_converted_twice(length: int) -> None:
    """Row D20."""
    Compiling({"AddN"}, Blocked)
    feeds = {"x:0": np.ones(2, np.float32)}
    assert converted(chain(length), [f"n{length - 1}:0"], feeds, "fake") == 2


def test_conversions_are_the_values_that_cross_borders() -> None:
    """Row D20: over random graphs, of which some sums stay outside."""
    Compiling({"AddN"}, Blocked)
    total = 0
    for seed in range(60):
        graph = random_graph(random.Random(seed))
        fetches = [n.name for n in graph if not graph.has_users(n) and n.op == "AddN"]
        feeds = {n.name: rng_array(k) for k, n in enumerate(graph) if n.op == "Placeholder"}
        expected = crossings(graph, fetches)
        assert converted(graph, fetches, feeds, SETTINGS) == expected, seed
        total += expected
    assert total > 100


def crossings(graph: Graph, fetches: list[str]) -> int:
    """Values that go into a region or come out of one, of those that the report states."""
    _, report = partition_with_report(graph, fetches, [], SETTINGS)
    owner = {name: k for k, s in enumerate(report.taken) for name in s.nodes}
    into: set[tuple[int, Output]] = set()
    out: set[Node] = {graph[name] for name in fetches if name in owner}
    for node in reachable(graph[name] for name in fetches):
        for source, slot in node.inputs:
            here, there = owner.get(node.name), owner.get(source.name)
            if here is not None and here != there:
                into.add((here, (source, slot)))
            if there is not None and here != there:
                out.add(source)
    return len(into) + len(out)
