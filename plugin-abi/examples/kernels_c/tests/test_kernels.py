"""Two ops of the plugin's own, one of them asynchronous, and a Relu that is preferred."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import AttrValue, DataType, GraphDef
from drystone_base import DType, infer
from drystone_base.api.session import Session
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.selection import select
from drystone_base.graph import Graph
from drystone_base.plugins import Plugin


def graph_of(op: str, dtype: DataType, inputs: str, size: int = 3, **attrs: AttrValue) -> Graph:
    """Placeholders into one node y; an attribute T where one is given."""
    graph = GraphDef()
    for name in inputs:
        node = graph.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = dtype
        node.attr["shape"].shape.dim.add(size=size)
    node = graph.node.add(name="y", op=op, input=list(inputs))
    for name, value in attrs.items():
        node.attr[name].CopyFrom(value)
    return Graph.from_bytes(graph.SerializeToString())


def weighted_sum(dtype: DataType, weight: float, size: int = 3) -> Graph:
    attrs = {"T": AttrValue(type=dtype), "weight": AttrValue(f=weight)}
    return graph_of("ExampleWeightedSum", dtype, "ab", size, **attrs)


def test_the_plugin_loads(plugin: Plugin) -> None:
    assert plugin.state == "loaded"
    assert plugin.name == "example_kernels"


@pytest.mark.parametrize(
    ("dtype", "array"), [(DataType.DT_FLOAT, np.float32), (DataType.DT_DOUBLE, np.float64)]
)
def test_weighted_sum(dtype: DataType, array: Any) -> None:
    session = Session(weighted_sum(dtype, 0.5))
    a, b = np.array([1, 2, 3], array), np.array([10, 20, -np.inf], array)
    np.testing.assert_array_equal(session.run("y:0", {"a:0": a, "b:0": b}), a + b / 2)
    assert list(a) == [1, 2, 3]  # a caller's array is not written into


def test_its_shape_is_that_of_its_input() -> None:
    graph = weighted_sum(DataType.DT_FLOAT, 1)
    assert infer(graph).shape(graph.output("y:0")) == (3,)


def test_shapes_must_agree() -> None:
    session = Session(weighted_sum(DataType.DT_FLOAT, 1, size=-1))
    feeds = {"a:0": np.zeros(3, np.float32), "b:0": np.zeros(2, np.float32)}
    with pytest.raises(DrystoneError, match="x and y must have the same shape") as caught:
        session.run("y:0", feeds)
    assert caught.value.details["example/ranks"] == "1 and 1"
    assert caught.value.details["drystone/node"] == "y"


def test_total_on_another_thread() -> None:
    session = Session(graph_of("ExampleTotal", DataType.DT_FLOAT, "x"))
    total = session.run("y:0", {"x:0": np.array([1, 2, 4], np.float32)})
    assert (total.shape, float(total)) == ((), 7.0)


def relu_kernel(dtype: DType) -> str:
    chosen = select("Relu", "CPU", {"T": dtype})
    assert chosen is not None
    return chosen.name


def test_relu_of_float_is_the_plugins() -> None:
    graph = graph_of("Relu", DataType.DT_FLOAT, "x", T=AttrValue(type=DataType.DT_FLOAT))
    assert relu_kernel(FLOAT32) == "ExampleRelu"
    x = np.array([-1, np.nan, 2], np.float32)
    np.testing.assert_array_equal(Session(graph).run("y:0", {"x:0": x}), [0, np.nan, 2])


def test_relu_of_other_types_is_the_hosts() -> None:
    graph = graph_of("Relu", DataType.DT_INT32, "x", T=AttrValue(type=DataType.DT_INT32))
    assert relu_kernel(INT32) != "ExampleRelu"
    assert list(Session(graph).run("y:0", {"x:0": np.array([-1, 0, 2], np.int32)})) == [0, 0, 2]
