"""The negative of a negative is the number, wherever nothing stands in the way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from drystone_abi.protos import DataType, GraphDef
from drystone_base.api.session import Session
from drystone_base.graph import Graph
from drystone_base.plugins import Plugin

Optimize = Callable[..., GraphDef]


def chain(length: int) -> GraphDef:
    """x, then ``length`` times Neg: n1, n2, ..."""
    graph = GraphDef()
    node = graph.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = DataType.DT_FLOAT
    node.attr["shape"].shape.unknown_rank = True
    for number in range(1, length + 1):
        source = f"n{number - 1}" if number > 1 else "x"
        node = graph.node.add(name=f"n{number}", op="Neg", input=[source])
        node.attr["T"].type = DataType.DT_FLOAT
    return graph


def ops(graph: GraphDef) -> dict[str, str]:
    return {node.name: f"{node.op}({', '.join(node.input)})" for node in graph.node}


def test_the_plugin_loads(plugin: Plugin) -> None:
    assert plugin.state == "loaded"
    assert plugin.name == "double_neg"


def test_two_become_an_identity(optimized: Optimize) -> None:
    after = ops(optimized(chain(2), ["n2:0"]))
    assert after["n2"] == "Identity(x)"


def test_the_numbers_stay_the_same(optimized: Optimize) -> None:
    graph = optimized(chain(5), ["n5:0"])
    x = np.array([0.0, -1.5, np.inf, -np.nan], np.float32)
    session = Session(Graph.from_bytes(graph.SerializeToString()))
    np.testing.assert_array_equal(session.run("n5:0", {"x:0": x}), -x)


@pytest.mark.parametrize("changed", ["control", "second output", "another op"])
def test_what_is_no_double_negation_stays(optimized: Optimize, changed: str) -> None:
    graph = chain(2)
    if changed == "control":
        graph.node[1].input.append("^x")
    elif changed == "second output":
        graph.node[2].input[0] = "n1:1"
    else:
        graph.node[1].op = "Abs"
    if changed == "second output":
        graph.node[1].op = "Switch"
        graph.node[1].input.append("x")
    assert optimized(graph, ["n2:0"]).node[2].op == "Neg"


def test_a_fed_node_keeps_its_part(optimized: Optimize) -> None:
    assert optimized(chain(2), ["n2:0"], ("n1:0",)).node[2].op == "Neg"


def test_other_fields_are_kept(optimized: Optimize) -> None:
    graph = chain(2)
    graph.node[2].attr["_mine"].s = b"kept"
    graph.node[2].device = "/device:CPU:0"
    after = optimized(graph, ["n2:0"]).node[2]
    assert (after.attr["_mine"].s, after.device) == (b"kept", "/device:CPU:0")
