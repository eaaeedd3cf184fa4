"""Passes over graphs: what every one must keep, and how it behaves when it is called wrongly."""

from __future__ import annotations

import pytest

from drystone_abi.protos import GraphDef
from drystone_base import Graph, HostError, validate
from drystone_conformance.graphs import GRAPHS, build
from drystone_conformance.passing import pass_bytes, run_pass
from drystone_conformance.plugin import needs

pytestmark = pytest.mark.module("passes")


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_graph_stays_a_graph(pass_name: str, graph: str) -> None:
    validate(Graph.from_proto(GraphDef.FromString(run_pass(pass_name, build(graph), graph))))


@pytest.mark.parametrize("graph", GRAPHS)
def test_fetches_and_feeds_stay(pass_name: str, graph: str) -> None:
    case = build(graph)
    names = {node.name for node in GraphDef.FromString(run_pass(pass_name, case, graph)).node}
    assert {name.split(":")[0] for name in (*case.fetches, *case.feeds)} <= names


@needs("passes.idempotent")
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_second_run_changes_nothing(pass_name: str, graph: str) -> None:
    case = build(graph)
    once = run_pass(pass_name, case, graph)
    assert GraphDef.FromString(pass_bytes(pass_name, once, case)) == GraphDef.FromString(once)


@needs("passes.deterministic")
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_same_graph_gives_the_same_bytes(pass_name: str, graph: str) -> None:
    first = run_pass(pass_name, build(graph), graph)
    assert all(run_pass(pass_name, build(graph), graph) == first for _ in range(3))


def test_an_empty_graph_stays_empty(pass_name: str) -> None:
    assert len(GraphDef.FromString(pass_bytes(pass_name, b"")).node) == 0


@needs("passes.malformed-input")
def test_bytes_that_are_no_graph_are_an_error(pass_name: str) -> None:
    with pytest.raises(HostError, match=pass_name):
        pass_bytes(pass_name, b"\xff\xff\xff")


@needs("passes.unknown-fields")
def test_fields_of_a_later_release_stay(pass_name: str) -> None:
    """A field number that no proto of today has, in the graph and in a node."""
    later = b"\xfa\x7f\x05hello"  # field 2047, bytes
    node = GraphDef(node=[{"name": "a", "op": "NoOp"}]).node[0].SerializeToString() + later
    data = b"\x0a" + bytes([len(node)]) + node + later
    assert pass_bytes(pass_name, data).count(later) == 2
