"""The maximum of a value and itself is the value."""

from __future__ import annotations

import numpy as np
import pytest

from drystone_abi.protos import DataType, GraphDef
from drystone_base.api.session import Session
from drystone_base.graph import Graph
from drystone_optimizer import optimize, optimizers


def graph_of(op: str, inputs: list[str], dtype: DataType = DataType.DT_FLOAT) -> Graph:
    graph = GraphDef()
    for name in "ab":
        node = graph.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = dtype
    node = graph.node.add(name="y", op=op, input=inputs)
    if dtype != DataType.DT_BOOL:
        node.attr["T"].type = dtype
    return Graph.from_bytes(graph.SerializeToString())


def test_the_entry_point_is_found() -> None:
    found = [one for one in optimizers(load=False) if one.name == "same"]
    assert [(one.device, one.version) for one in found] == [("CPU", "0.1.0")]


@pytest.mark.parametrize("op", ["Maximum", "Minimum"])
def test_both_inputs_the_same(op: str) -> None:
    after = optimize(graph_of(op, ["a", "a"]), ["y:0"])
    assert (after["y"].op, [node.name for node, _ in after["y"].inputs]) == ("Identity", ["a"])
    x = np.array([1, -0.0, np.nan], np.float32)
    assert Session(after).run("y:0", {"a:0": x}).tobytes() == x.tobytes()


def test_booleans_get_a_dtype() -> None:
    after = optimize(graph_of("LogicalAnd", ["a", "a"], DataType.DT_BOOL), ["y:0"])
    assert after["y"].op == "Identity"
    x = np.array([True, False])
    assert list(Session(after).run("y:0", {"a:0": x})) == [True, False]


def test_different_inputs_stay() -> None:
    graph = graph_of("Maximum", ["a", "b"])
    assert optimize(graph, ["y:0"])["y"].op == "Maximum"


def test_control_inputs_stay() -> None:
    after = optimize(graph_of("Maximum", ["a", "a", "^b"]), ["y:0"])
    assert [node.name for node in after["y"].controls] == ["b"]
