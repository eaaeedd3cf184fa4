"""Identities are bypassed unless they are needed as nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from drystone_abi.protos import DataType, GraphDef
from drystone_base.api.session import Session
from drystone_base.graph import Graph
from drystone_base.plugins import Plugin

Optimize = Callable[..., GraphDef]


def graph_of(*lines: str) -> GraphDef:
    """One node a line: ``NAME OP INPUT...``."""
    graph = GraphDef()
    for line in lines:
        name, op, *inputs = line.split()
        node = graph.node.add(name=name, op=op, input=inputs)
        if op == "Placeholder":
            node.attr["dtype"].type = DataType.DT_FLOAT
            node.attr["shape"].shape.unknown_rank = True
        else:
            node.attr["T"].type = DataType.DT_FLOAT
    return graph


def listed(graph: GraphDef) -> list[str]:
    return [" ".join([node.name, node.op, *node.input]) for node in graph.node]


CHAIN = ("x Placeholder", "i Identity x", "j Identity i:0", "y Neg j")


def test_the_plugin_loads(plugin: Plugin) -> None:
    assert plugin.state == "loaded"
    assert plugin.name == "bypass_identity"


def test_a_chain_of_identities_goes(optimized: Optimize) -> None:
    assert listed(optimized(graph_of(*CHAIN), ["y:0"])) == ["x Placeholder", "y Neg x"]


def test_the_numbers_stay_the_same(optimized: Optimize) -> None:
    graph = optimized(graph_of(*CHAIN), ["y:0"])
    session = Session(Graph.from_bytes(graph.SerializeToString()))
    assert list(session.run("y:0", {"x:0": np.array([1, -2], np.float32)})) == [-1, 2]


@pytest.mark.parametrize(
    "lines",
    [
        ("x Placeholder", "i Identity x ^x", "y Neg i"),
        ("x Placeholder", "i Identity x", "y Neg x ^i"),
    ],
)
def test_an_identity_with_control_edges_stays(optimized: Optimize, lines: tuple[str, ...]) -> None:
    assert listed(optimized(graph_of(*lines), ["y:0"])) == list(lines)


def test_a_fetched_or_fed_identity_stays(optimized: Optimize) -> None:
    assert listed(optimized(graph_of(*CHAIN), ["y:0", "i:0"])) == [
        "x Placeholder",
        "i Identity x",
        "y Neg i:0",
    ]
    assert "j Identity x" in listed(optimized(graph_of(*CHAIN), ["y:0"], ("j:0",)))


def test_an_identity_on_another_device_stays(optimized: Optimize) -> None:
    graph = graph_of(*CHAIN)
    graph.node[1].device = "/device:GPU:0"
    assert listed(optimized(graph, ["y:0"]))[1] == "i Identity x"
