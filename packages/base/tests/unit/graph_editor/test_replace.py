"""Regions replaced by a node: values, names, order, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone_base as ds
from drystone_base.graph.extract import Extract, add_function
from drystone_base.graph_editor import replace

F32 = ds.as_dtype("float32")
UNARY = ("Neg", "Square", "Abs", "Sin")
BINARY = ("AddV2", "Mul", "Sub", "Maximum")


def chain() -> tuple[ds.Graph, ds.Builder]:
    """x -> Neg a -> Square b -> Abs c; d reads a."""
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", shape=(3,), name="x")
    a = b("Neg", x, name="a")
    b("Abs", b("Square", a, name="b"), name="c")
    b("Sin", a, name="d")
    return graph, b


def test_a_region_gives_way_to_a_node() -> None:
    graph, b = chain()
    node = b.node("Square", graph["x"], name="new")
    assert replace(graph, ["x"], ["b"], node) == ["b"]
    assert [n.name for n in graph] == ["x", "a", "c", "d", "new"]  # d still needs a
    x = np.array([1, -2, 3], np.float32)
    assert ds.Session(graph).run("c:0", {"x": x}).tolist() == [1, 4, 9]
    ds.validate(graph)


def test_names_that_are_fetched_stay() -> None:
    graph, b = chain()
    node = b.node("Square", graph["x"], name="new")
    assert replace(graph, [(graph["x"], 0)], [graph["c"]], node, keep=["c"]) == ["b"]
    assert graph["c"].op == "Identity"
    graph, b = chain()
    node = b.node("Neg", graph["b"], name="new")  # needs what it replaces: that stays, elsewhere
    assert replace(graph, ["b"], ["c"], node, keep=["c"]) == []
    assert ds.Session(graph).run("c:0", {"x": np.ones(3, np.float32)}).tolist() == [-1] * 3


def test_what_the_region_waited_for_and_who_waits_for_it() -> None:
    graph, b = chain()
    before, after = b.node("NoOp", name="before"), b.node("NoOp", name="after")
    graph.add_control(graph["b"], before)
    graph.add_control(after, graph["b"])
    graph.set_attr(graph["d"], "_class", ["loc:@b", "loc:@a"])
    node = b.node("Square", graph["x"], name="new")
    replace(graph, ["x"], ["c"], node, keep=["c"])
    assert node.controls == (before,)
    assert after.controls == (node,)
    assert graph["d"].attrs["_class"] == ["loc:@a"]


def refused(graph: ds.Graph, text: str, code: str, *args: Any, **options: Any) -> ds.GraphError:
    before = graph.to_bytes()
    with pytest.raises(ds.GraphError, match=re.escape(text)) as caught:
        replace(graph, *args, **options)
    assert caught.value.code == code
    assert graph.to_bytes() == before
    return caught.value


def test_regions_that_no_node_can_stand_for() -> None:
    graph, b = chain()
    node = b.node("Neg", graph["x"], name="new")
    wide = b.node("Cast", graph["x"], DstT="float64", name="wide")
    long = b.node("ConcatV2", [graph["x"], graph["x"]], b.const(0), name="long")
    error = refused(
        graph, "long:0 has another shape than c:0", "bad-replacement", ["x"], ["c"], long
    )
    assert str(error) == (
        "a region cannot be replaced: long:0 has another shape than c:0 [bad-replacement]\n"
        "  check: a replacement gives what was there, of the same shape\n"
        "  found: [6]\n"
        "  needed: [3]\n"
        "  remedy: give the tensors that enter the region and those that leave it"
    )
    refused(graph, "wide:0 cannot stand for c:0", "dtype-mismatch", ["x"], ["c"], wide)
    refused(graph, "gives too little", "bad-replacement", ["x"], ["c", "d"], node)
    refused(graph, "no outputs are given", "bad-replacement", ["x"], [], node)
    refused(graph, "c:0 is given twice", "bad-replacement", ["x"], ["c", "c:0"], node)
    refused(graph, "computed from 'x' (Placeholder), too", "bad-replacement", [], ["c"], node)
    refused(graph, "b:0 is both an input and an output", "bad-replacement", ["b"], ["b"], node)
    refused(graph, "has no output 1", "bad-output-index", ["x"], ["c:1"], node)
    refused(graph, "'d' cannot stay as a name", "bad-replacement", ["x"], ["c"], node, keep=["d"])
    refused(graph, "there is no node 'nine'", "unknown-node", ["x"], ["nine"], node)
    refused(graph, "'x' is not in this graph", "foreign-node", [chain()[0]["x"]], ["c"], node)
    refused(graph, "'c' is not in this graph", "foreign-node", ["x"], ["c"], chain()[0]["c"])


def test_a_node_that_would_wait_for_itself() -> None:
    graph, b = chain()
    node = b.node("Neg", graph["c"], name="new")
    refused(graph, "it waits for 'c', which reads b:0", "graph-cycle", ["x"], ["b"], node)
    refused(graph, "part of the region", "graph-cycle", ["x"], ["new"], node)
    graph, b = chain()
    node = b.node("Square", graph["x"], name="new")
    other = b.node("NoOp", controls=[graph["b"]], name="other")
    graph.add_control(graph["c"], other)
    refused(graph, "'other', which waits for 'b'", "graph-cycle", ["x"], ["c"], node)


def test_control_flow_stays() -> None:
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", name="x")
    switch = b.node("Switch", x, b("Placeholder", dtype="bool", name="p"), name="switch")
    y = b("Neg", (switch, 1), name="y")
    node = b.node("Neg", x, name="new")
    refused(graph, "'switch' (Switch) is in the region", "bad-replacement", ["x", "p"], [y], node)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_function_of_a_random_region_gives_what_the_region_gave(data: st.DataObject) -> None:
    graph = ds.Graph()
    b = ds.Builder(graph)
    nodes = [b.node("Placeholder", dtype="float32", shape=(2,), name=f"x{k}") for k in range(2)]
    for k in range(data.draw(st.integers(2, 10))):
        op = data.draw(st.sampled_from(UNARY + BINARY))
        sources = [data.draw(st.sampled_from(nodes)) for _ in range(1 + (op in BINARY))]
        controls = data.draw(st.lists(st.sampled_from(nodes), max_size=1))
        nodes.append(b.node(op, *sources, controls=controls, name=f"n{k}"))
    members = data.draw(st.sets(st.sampled_from(nodes[2:]), min_size=1))
    inside = [n for n in nodes if n in members]
    inputs = list(dict.fromkeys(o for n in inside for o in n.inputs if o[0] not in members))
    outputs = [(n, 0) for n in inside]
    extract = Extract(graph, [(o, F32) for o in inputs], inside)
    body, signature = extract.finish([(extract.place(o), F32) for o in outputs])
    feeds = {f"x{k}": np.array([0.5, -1.5], np.float32) * (k + 1) for k in range(2)}
    names = [n.name for n in nodes]
    expected = ds.Session(graph.copy()).run(names, feeds)
    function = add_function(graph, "region", body, signature)
    types = {"Tin": [F32] * len(inputs), "Tout": [F32] * len(outputs)}
    call = b.node("PartitionedCall", inputs, f=function, name="call", **types)
    keep = [n.name for n in inside]
    gone, error = _replaced(graph, inputs, outputs, call, keep)
    if error is not None:
        assert error.code == "graph-cycle"
        assert _leaves_and_enters(nodes, members)
        return
    assert gone == []  # all were kept as names
    assert {graph[name].op for name in keep} == {"Identity"}
    for found, value in zip(ds.Session(graph).run(names, feeds), expected, strict=True):
        np.testing.assert_array_equal(found, value)


def _replaced(
    graph: ds.Graph, inputs: Any, outputs: Any, node: ds.Node, keep: list[str]
) -> tuple[list[str], ds.GraphError | None]:
    try:
        return replace(graph, inputs, outputs, node, keep=keep), None
    except ds.GraphError as error:
        return [], error


def _leaves_and_enters(nodes: list[ds.Node], members: set[ds.Node]) -> bool:
    """Whether a path, in the order of ``nodes``, goes from the region out of it and into it."""
    behind: set[str] = set()
    inside = {n.name for n in members}
    for node in nodes:
        sources = {s.name for s, _ in node.inputs} | {c.name for c in node.controls}
        if node.name not in inside and sources & (behind | inside):
            behind.add(node.name)
        if node.name in inside and sources & behind:
            return True
    return False
