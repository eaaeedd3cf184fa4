"""Feeds inside the graph: regions hold what the run needs, and nothing else."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from interpreter import Compiling
from partitions import only, regions

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph, Output
from drystone_base.ops.attrs import TensorAttr
from drystone_subgraph import partition, partition_with_report

ONES = np.ones(2, np.float32)
T = {"T": FLOAT32}
OPS = ("Exp", "Mul", "AddV2", "Neg", "Split")


def placeholder(graph: Graph, name: str, **attrs: Any) -> Output:
    return graph.add("Placeholder", name, attrs={"dtype": FLOAT32, "shape": (2,)} | attrs), 0


def diamond() -> Graph:
    """``y = (x * q + q) + q`` and ``z = -q``, where ``q = exp(t)``."""
    graph = Graph()
    x, t = placeholder(graph, "x"), placeholder(graph, "t")
    q = graph.add("Exp", "q", [t], attrs=T)
    p = graph.add("Mul", "p", [x, q], attrs=T)
    m = graph.add("AddV2", "m", [p, q], attrs=T)
    graph.add("AddV2", "y", [m, q], attrs=T)
    graph.add("Neg", "z", [q], attrs=T)
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize("optimizer", ["off", "default"])
@pytest.mark.parametrize("backend", ["default", "fake"])
def test_what_a_feed_cuts_off_needs_no_feed(
    executor: Literal["native", "reference"], optimizer: Literal["off", "default"], backend: str
) -> None:
    Compiling(set(OPS))
    config = ds.SessionConfig(executor=executor, optimizer=optimizer, subgraphs=backend)
    y, z = ds.Session(diamond(), config).run(["y:0", "z:0"], {"t:0": ONES, "m:0": ONES})
    np.testing.assert_allclose(y, 1 + np.exp(ONES))
    np.testing.assert_allclose(z, -np.exp(ONES))


def test_a_feed_keeps_no_nodes_apart() -> None:
    """No path leads through what does not run."""
    found, report = partition_with_report(diamond(), ["y", "z"], ["t", "m"], only("b", OPS))
    assert regions(report) == [["q", "y", "z"]]
    assert {node.name for node in found} == {"t", "m", "b_subgraph_0", "y", "z"}
    assert found["m"].op == "Placeholder"


def counter() -> Graph:
    """``y`` reads a variable after ``inc``, and what ``inc`` adds is in ``z``, too."""
    graph = Graph()
    attrs = {"dtype": FLOAT32, "shape": (), "shared_name": "v"}
    handle = graph.add("VarHandleOp", "v", attrs=attrs), 0
    x = placeholder(graph, "x", shape=())
    graph.add("AssignVariableOp", "init", [handle, x], attrs={"dtype": FLOAT32})
    w = graph.add("Neg", "w", [x], attrs=T)
    inc = graph.add("AssignAddVariableOp", "inc", [handle, w], attrs={"dtype": FLOAT32})
    a = graph.add("ReadVariableOp", "a", [handle], attrs={"dtype": FLOAT32}, controls=[inc])
    graph.add("AddV2", "y", [a, w], attrs=T)
    graph.add("Exp", "z", [w], attrs=T)
    graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32})
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_what_a_feed_cuts_off_has_no_effect(executor: Literal["native", "reference"]) -> None:
    config = ds.SessionConfig(executor=executor, optimizer="off", subgraphs="default")
    session = ds.Session(counter(), config)
    session.run("init", {"x": np.float32(0)})
    y, _ = session.run(["y", "z"], {"x": np.float32(-1), "a": np.float32(5)})
    assert (float(y), float(session.run("read"))) == (6, 0)


def halves() -> Graph:
    """``y`` and ``z`` are of the halves of what ``inner`` computes."""
    graph = Graph()
    x = placeholder(graph, "x")
    zero = TensorAttr(array=np.array(0, np.int32))
    axis = graph.add("Const", "axis", attrs={"dtype": INT32, "value": zero})
    inner = graph.add("Exp", "inner", [x], attrs=T)
    split = graph.add("Split", "s", [axis, inner], attrs=T | {"num_split": 2})
    graph.add("Neg", "y", [split], attrs=T)
    graph.add("Neg", "z", [(split, 1)], attrs=T)
    return graph


def test_what_feeds_one_of_two_outputs_is_fed() -> None:
    """A node of two outputs stays: what is not fed of it is computed."""
    config = ds.SessionConfig(optimizer="off", subgraphs=only("b", OPS))
    session = ds.Session(halves(), config)
    assert float(session.run("y", {"s:0": ONES[:1]})[0]) == -1
    y, z = session.run(["y", "z"], {"s:0": ONES[:1], "x": 0 * ONES})
    assert (float(y[0]), float(z[0])) == (-1, -1)
    _, report = partition_with_report(halves(), ["y"], ["s:0"], "b")
    assert regions(report) == [["y"]]
    _, report = partition_with_report(halves(), ["y", "z"], ["s:0"], "b")
    assert regions(report) == [["inner"], ["y"], ["z"]]


def test_a_placeholder_with_a_default_keeps_its_shape() -> None:
    graph = Graph()
    value = placeholder(graph, "default")
    attrs = {"dtype": FLOAT32, "shape": (2,)}
    x = graph.add("PlaceholderWithDefault", "x", [value], attrs=attrs)
    graph.add("Neg", "y", [x], attrs=T)
    found = partition(graph, ["y"], ["x"], only("b", OPS))
    assert found["x"].attrs == attrs
    assert "default" not in found
