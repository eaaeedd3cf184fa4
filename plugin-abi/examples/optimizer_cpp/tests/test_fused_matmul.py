"""Matrix product, bias and activation become one node that computes the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import AttrValue, DataType, GraphDef
from drystone_base.api.session import Session
from drystone_base.graph import Graph
from drystone_base.plugins import Plugin

Optimize = Callable[..., GraphDef]


def layer(activation: str | None, dtype: DataType = DataType.DT_FLOAT) -> GraphDef:
    """activation(BiasAdd(MatMul(a, b), c)); the last node is called y."""
    graph = GraphDef()
    for name in "abc":
        node = graph.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = dtype
        node.attr["shape"].shape.unknown_rank = True
    graph.node.add(name="product", op="MatMul", input=["a", "b"])
    graph.node[3].attr["transpose_b"].b = True
    graph.node.add(name="sum", op="BiasAdd", input=["product", "c"])
    if activation:
        graph.node.add(name="y", op=activation, input=["sum"])
    else:
        graph.node[4].name = "y"
    for node in graph.node[3:]:
        node.attr["T"].type = dtype
    if activation == "LeakyRelu":
        graph.node[5].attr["alpha"].f = 0.3
    return graph


def run(graph: GraphDef) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(0)
    feeds = {"a:0": (3, 4), "b:0": (5, 4), "c:0": (5,)}
    session = Session(Graph.from_bytes(graph.SerializeToString()))
    values = {name: rng.standard_normal(shape, np.float32) for name, shape in feeds.items()}
    result: np.ndarray[Any, Any] = session.run("y:0", values)
    return result


def test_the_plugin_loads(plugin: Plugin) -> None:
    assert plugin.state == "loaded"
    assert plugin.name == "fused_matmul"


@pytest.mark.parametrize("activation", [None, "Relu", "Relu6", "Elu", "LeakyRelu"])
def test_a_layer_becomes_one_node_with_the_same_values(
    optimized: Optimize, activation: str | None
) -> None:
    before = layer(activation)
    after = optimized(before, ["y:0"])
    assert [node.op for node in after.node] == ["Placeholder"] * 3 + ["_FusedMatMul"]
    fused = after.node[3]
    assert (fused.name, list(fused.input)) == ("y", ["a", "b", "c"])
    wanted = [b"BiasAdd", *([activation.encode()] if activation else [])]
    assert list(fused.attr["fused_ops"].list.s) == wanted
    np.testing.assert_allclose(run(after), run(before), rtol=1e-6)


@pytest.mark.parametrize(
    ("node", "change"),
    [
        ("product", lambda node: node.input.append("^a")),
        ("sum", lambda node: node.attr["data_format"].MergeFrom(AttrValue(s=b"NCHW"))),
        ("product", lambda node: setattr(node, "op", "Add")),
        ("product", lambda node: setattr(node, "device", "/device:GPU:0")),
    ],
)
def test_what_does_not_fit_stays(
    optimized: Optimize, node: str, change: Callable[..., None]
) -> None:
    graph = layer("Relu")
    change(next(one for one in graph.node if one.name == node))
    assert "_FusedMatMul" not in {one.op for one in optimized(graph, ["y:0"]).node}


def test_other_dtypes_stay(optimized: Optimize) -> None:
    graph = layer("Relu", DataType.DT_DOUBLE)
    assert len(optimized(graph, ["y:0"]).node) == 6


def test_what_is_fetched_or_read_elsewhere_stays(optimized: Optimize) -> None:
    assert [node.op for node in optimized(layer("Relu"), ["y:0", "sum:0"]).node][3:] == [
        "_FusedMatMul",
        "Relu",
    ]
    assert len(optimized(layer("Relu"), ["y:0", "product:0"]).node) == 6
    graph = layer("Relu")
    graph.node.add(name="other", op="Neg", input=["product"]).attr["T"].type = DataType.DT_FLOAT
    assert len(optimized(graph, ["y:0", "other:0"]).node) == 7


def test_a_fed_product_stays(optimized: Optimize) -> None:
    assert len(optimized(layer("Relu"), ["y:0"], ("product:0",)).node) == 6


def test_a_sum_that_waits_is_the_last_node(optimized: Optimize) -> None:
    graph = layer("Relu")
    graph.node[4].input.append("^a")
    after = optimized(graph, ["y:0"])
    assert [node.op for node in after.node][3:] == ["_FusedMatMul", "Relu"]
    assert list(after.node[3].input) == ["a", "b", "c", "^a"]


def test_control_inputs_of_the_last_node_are_kept(optimized: Optimize) -> None:
    graph = layer("Relu")
    graph.node[5].input.append("^a")
    assert list(optimized(graph, ["y:0"]).node[3].input) == ["a", "b", "c", "^a"]


def test_an_order_that_says_nothing_new_goes_with_the_node(optimized: Optimize) -> None:
    """The sum reads the product and waits for it, too."""
    graph = layer("Relu")
    graph.node[4].input.append("^" + graph.node[3].name)
    assert list(optimized(graph, ["y:0"]).node[3].input) == ["a", "b", "c"]
    graph = layer(None)
    graph.node[4].input.append("^" + graph.node[3].name)
    assert list(optimized(graph, ["y:0"]).node[3].input) == ["a", "b", "c"]
