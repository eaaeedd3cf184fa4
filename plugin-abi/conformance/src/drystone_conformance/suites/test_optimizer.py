"""Graph optimizers: what every one must keep, and how it behaves when it is called wrongly."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError

from drystone_abi.protos import GraphDef
from drystone_base import (
    Graph,
    HostError,
    Session,
    as_dtype,
    read_graph,
    validate,
)
from drystone_base.host import optimizer as host
from drystone_conformance.graphs import GRAPHS, build, chain
from drystone_conformance.live import grown
from drystone_conformance.optimizing import PLAIN, optimize
from drystone_conformance.plugin import needs

pytestmark = pytest.mark.module("optimizer")


def names(data: bytes) -> set[str]:
    """Names of the nodes."""
    return {node.name for node in GraphDef.FromString(data).node}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_graph_stays_a_graph(optimizer_type: str, name: str) -> None:
    graph = Graph.from_proto(GraphDef.FromString(optimize(optimizer_type, build(name), name)))
    validate(graph)


@pytest.mark.parametrize("name", GRAPHS)
def test_fetches_feeds_and_preserved_nodes_stay(optimizer_type: str, name: str) -> None:
    case = build(name)
    assert set(case.kept) <= names(optimize(optimizer_type, case, name))


@needs("optimizer.exact")
@pytest.mark.parametrize("name", GRAPHS)
def test_values_stay(optimizer_type: str, name: str) -> None:
    """S0-golden: values end to end, on graphs that every plugin can be tried on."""
    case = build(name)
    expected = Session(case.graph, PLAIN).run(case.fetches, case.feeds)
    after = Graph.from_proto(GraphDef.FromString(optimize(optimizer_type, case, name)))
    found = Session(after, PLAIN).run(case.fetches, case.feeds)
    for a, b in zip(found, expected, strict=True):
        assert np.all(np.abs(a - b) <= 1e-4 * (np.abs(b) + b.std()))


def test_device_strings_stay(optimizer_type: str) -> None:
    case = build("placed")
    before = {node.name: node.device for node in case.graph}
    for node in GraphDef.FromString(optimize(optimizer_type, case)).node:
        if node.name in before:
            assert node.device == before[node.name]


@needs("optimizer.idempotent")
@pytest.mark.parametrize("name", GRAPHS)
def test_a_second_run_changes_nothing(optimizer_type: str, name: str) -> None:
    case = build(name)
    once = optimize(optimizer_type, case, name)
    twice = host.run(optimizer_type, once, case.fetches, list(case.feeds), case.kept)
    assert twice is None or GraphDef.FromString(twice) == GraphDef.FromString(once)


@needs("optimizer.deterministic")
@pytest.mark.parametrize("name", GRAPHS)
def test_the_same_graph_gives_the_same_bytes(optimizer_type: str, name: str) -> None:
    first = optimize(optimizer_type, build(name), name)
    assert all(optimize(optimizer_type, build(name), name) == first for _ in range(3))


def test_an_empty_graph(optimizer_type: str) -> None:
    """It stays empty; a plugin that then leaves its answer empty, too, is told so by the host."""
    with contextlib.suppress(HostError):
        after = host.run(optimizer_type, b"")
        assert after is None or len(GraphDef.FromString(after).node) == 0


def test_ops_and_attributes_that_nobody_knows_stay(optimizer_type: str) -> None:
    graph = GraphDef()
    source = graph.node.add(name="a", op="MadeUpSource")
    source.attr["made_up"].s = b"\0\xff"
    sink = graph.node.add(name="b", op="MadeUpSink", input=["a", "a:1", "^a"])
    sink.attr["list"].list.i.extend([1, -1])
    data = graph.SerializeToString()
    after = host.run(optimizer_type, data, ["b:0"], [], ["a", "b"])
    found = {n.name: n for n in GraphDef.FromString(data if after is None else after).node}
    assert found["a"] == source
    assert found["b"] == sink


@needs("optimizer.unknown-fields")
def test_fields_of_a_later_release_stay(optimizer_type: str) -> None:
    """A field number that no proto of today has, in the graph and in a node."""
    later = b"\xfa\x7f\x05hello"  # field 2047, bytes
    node = GraphDef(node=[{"name": "a", "op": "NoOp"}]).node[0].SerializeToString() + later
    data = b"\x0a" + bytes([len(node)]) + node + later
    after = host.run(optimizer_type, data, ["a"], [], ["a"])
    kept = data if after is None else after
    assert kept.count(later) == 2


def test_the_function_library_stays(optimizer_type: str) -> None:
    case = build("dense")
    graph = case.graph.to_proto()
    function = graph.library.function.add()
    function.signature.name = "f"
    function.node_def.add(name="n", op="NoOp")
    data = graph.SerializeToString()
    after = host.run(optimizer_type, data, case.fetches, list(case.feeds), case.kept)
    kept = graph if after is None else GraphDef.FromString(after)
    assert [f.signature.name for f in kept.library.function] == ["f"]


@needs("optimizer.malformed-input")
@pytest.mark.parametrize("cut", [1, 3, 50])
def test_a_truncated_graph_is_an_error_or_left_alone(optimizer_type: str, cut: int) -> None:
    data = build("dense").graph.to_proto().SerializeToString()[:-cut]
    with pytest.raises(DecodeError):
        GraphDef.FromString(data)
    with contextlib.suppress(HostError):
        after = host.run(optimizer_type, data, ["out:0"])
        assert after is None


def test_edges_to_nodes_that_are_not_there(optimizer_type: str) -> None:
    graph = GraphDef(node=[{"name": "a", "op": "Identity", "input": ["gone", "^lost", "b:99"]}])
    with contextlib.suppress(HostError):
        host.run(optimizer_type, graph.SerializeToString(), ["a:0"])


def test_a_cycle(optimizer_type: str) -> None:
    graph = GraphDef()
    for name, source in (("a", "b"), ("b", "a")):
        node = graph.node.add(name=name, op="Identity", input=[source])
        node.attr["T"].type = as_dtype("float32").number  # type: ignore[assignment]
    with contextlib.suppress(HostError):
        host.run(optimizer_type, graph.SerializeToString(), ["a:0"])


def test_time_grows_with_the_graph_and_no_faster(optimizer_type: str) -> None:
    """Ten times the nodes may take some thirty times as long, not a hundred."""

    def seconds(length: int) -> float:
        case = chain(length)
        start = time.perf_counter()
        optimize(optimizer_type, case)
        return time.perf_counter() - start

    seconds(100)
    short, long = min(seconds(500) for _ in range(3)), seconds(5000)
    assert long < 30 * short + 1.0


@needs("optimizer.concurrent")
def test_several_graphs_on_several_threads(optimizer_type: str) -> None:
    expected = {name: optimize(optimizer_type, build(name), name) for name in GRAPHS}

    def again(name: str) -> Any:
        found, wanted = optimize(optimizer_type, build(name), name), expected[name]
        return len(GraphDef.FromString(found).node) == len(GraphDef.FromString(wanted).node)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(again, list(GRAPHS) * 4))


def test_nothing_is_left_behind(optimizer_type: str) -> None:
    case = build("dense")
    assert grown(lambda: optimize(optimizer_type, case)) == {}


def test_a_file_round_trip_of_the_answer(optimizer_type: str, tmp_path: Any) -> None:
    file = tmp_path / "optimized.pb"
    file.write_bytes(optimize(optimizer_type, build("dense")))
    assert {node.name for node in read_graph(file)} >= {"x", "out"}
