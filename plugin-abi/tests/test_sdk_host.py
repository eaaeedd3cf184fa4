"""Classes of the SDK as plugins in a live host: an optimizer, kernels, shape functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import DataType, GraphDef
from drystone_base import infer
from drystone_base.api.session import Session
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_base.host import _lib, optimizer
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.inference.plugin_ops import sync

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)


@pytest.fixture(scope="module", autouse=True)
def library(compile_library: Callable[..., Path]) -> HostLibrary:
    opened = open_library(compile_library("sdk_everything.cc", flags=["-std=c++17", "-O1"]))
    opened.initialise("TF_InitGraph")
    opened.initialise("TF_InitKernel")
    sync()
    assert opened.describe()["errors"] == []
    return opened


def graph_of(
    op: str, dtype: DataType = DataType.DT_FLOAT, dims: tuple[int, ...] = (3,)
) -> GraphDef:
    """x into one node y."""
    graph = GraphDef()
    node = graph.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = dtype
    for size in dims:
        node.attr["shape"].shape.dim.add(size=size)
    graph.node.add(name="y", op=op, input=["x"])
    return graph


def ready(graph: GraphDef) -> Graph:
    return Graph.from_bytes(graph.SerializeToString())


def scale(dtype: DataType = DataType.DT_FLOAT) -> GraphDef:
    graph = graph_of("SdkScale", dtype)
    graph.node[1].attr["T"].type = dtype
    graph.node[1].attr["factor"].f = 1.5
    graph.node[1].attr["names"].list.s.extend([b"a", b"", b"long" * 100])
    return graph


def run(graph: GraphDef, x: Any) -> Any:
    return Session(ready(graph)).run("y:0", {"x:0": x})


def negations(known: bool) -> bytes:
    graph = graph_of("Neg")
    if not known:
        graph.node[0].attr["shape"].shape.Clear()
        graph.node[0].attr["shape"].shape.unknown_rank = True
    graph.node.add(name="z", op="Neg", input=["y"])
    for node in graph.node[1:]:
        node.attr["T"].type = DataType.DT_FLOAT
    return graph.SerializeToString()


def test_an_optimizer_asks_for_fetches_shapes_and_definitions() -> None:
    found = optimizer.run("CPU", negations(known=True), ["z:0"], [], [])
    assert found is not None
    last = GraphDef.FromString(found).node[2]
    assert (last.name, last.op, last.attr["_fetches"].i) == ("z", "Identity", 1)


def test_without_a_change_the_graph_is_the_same() -> None:
    assert optimizer.run("CPU", negations(known=False), ["z:0"], [], []) is None
    assert optimizer.run("CPU", negations(known=True), ["z:0"], [], ["y"]) is None


def test_its_wishes_are_known(library: HostLibrary) -> None:
    (mine,) = [one for one in optimizer.optimizers() if one.library == library.path]
    assert mine.configs == {"remapping": "off"}


def test_a_kernel_reads_its_attributes_and_computes() -> None:
    np.testing.assert_array_equal(run(scale(), np.array([1, -2, 4], np.float32)), [1.5, -3, 6])


def test_a_kernel_for_another_dtype_is_not_there() -> None:
    with pytest.raises(DrystoneError, match="SdkScale"):
        run(scale(DataType.DT_DOUBLE), np.zeros(3))


def test_payloads_of_an_error_are_its_details() -> None:
    with pytest.raises(DrystoneError, match="too low") as caught:
        run(scale(), np.array([1, -200, 4], np.float32))
    assert caught.value.details["sdk/index"] == "1"
    assert caught.value.details["drystone/kernel"]


def test_an_asynchronous_kernel_is_done() -> None:
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(run(graph_of("SdkLater"), x), x)


def test_shape_functions_are_called() -> None:
    first = ready(graph_of("SdkFirst", dims=(4, 5)))
    assert infer(first).shape(first.output("y:0")) == (4,)
    same = ready(scale())
    assert infer(same).shape(same.output("y:0")) == (3,)
