"""Passes over graphs: what every one must keep, and how it behaves when it is called wrongly."""

from __future__ import annotations

import pytest

from drystone_abi.protos import GraphDef
from drystone_base import Graph, HostError, validate
from drystone_base.host import passes as host
from drystone_conformance.graphs import GRAPHS, Case, build
from drystone_conformance.plugin import needs

pytestmark = pytest.mark.module("passes")
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
PARTITIONED = 3


def run(name: str, data: bytes, case: Case | None = None) -> bytes:
    """The graph as the pass leaves it; the same bytes where it changed nothing."""
    (found,) = [p for p in host.passes() if p.name == name]
    is_split = found.grouping == PARTITIONED
    fetches, feeds = (case.fetches, list(case.feeds)) if case else ([], [])
    partitions, devices = ([CPU], None) if is_split else (None, [CPU])
    (after,) = host.run(name, [data], partitions, fetches, feeds, devices)
    return data if after is None else after


def on(name: str, case: Case) -> bytes:
    """What the pass makes of a case."""
    return run(name, case.graph.to_proto().SerializeToString(deterministic=True), case)


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_graph_stays_a_graph(pass_name: str, graph: str) -> None:
    validate(Graph.from_proto(GraphDef.FromString(on(pass_name, build(graph)))))


@pytest.mark.parametrize("graph", GRAPHS)
def test_fetches_and_feeds_stay(pass_name: str, graph: str) -> None:
    case = build(graph)
    names = {node.name for node in GraphDef.FromString(on(pass_name, case)).node}
    assert {name.split(":")[0] for name in (*case.fetches, *case.feeds)} <= names


@needs("passes.idempotent")
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_second_run_changes_nothing(pass_name: str, graph: str) -> None:
    case = build(graph)
    once = on(pass_name, case)
    assert GraphDef.FromString(run(pass_name, once, case)) == GraphDef.FromString(once)


@needs("passes.deterministic")
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_same_graph_gives_the_same_bytes(pass_name: str, graph: str) -> None:
    first = on(pass_name, build(graph))
    assert all(on(pass_name, build(graph)) == first for _ in range(3))


def test_an_empty_graph_stays_empty(pass_name: str) -> None:
    assert len(GraphDef.FromString(run(pass_name, b"")).node) == 0


@needs("passes.malformed-input")
def test_bytes_that_are_no_graph_are_an_error(pass_name: str) -> None:
    with pytest.raises(HostError, match=pass_name):
        run(pass_name, b"\xff\xff\xff")


@needs("passes.unknown-fields")
def test_fields_of_a_later_release_stay(pass_name: str) -> None:
    """A field number that no proto of today has, in the graph and in a node."""
    later = b"\xfa\x7f\x05hello"  # field 2047, bytes
    node = GraphDef(node=[{"name": "a", "op": "NoOp"}]).node[0].SerializeToString() + later
    data = b"\x0a" + bytes([len(node)]) + node + later
    assert run(pass_name, data).count(later) == 2
