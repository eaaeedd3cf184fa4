"""Weights that stay in the model's file: kernels read them once, or row by row."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import native_ops
import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32, as_dtype
from drystone_base.core.errors import BadModelFile
from drystone_base.graph import Graph, Node
from drystone_base.host.memory import free_kept
from drystone_base.loaders.graphdef import read_graph, write_graph
from drystone_base.ops.attrs import TensorAttr

pytestmark = native_ops.needs_onednn()


def numbers(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def const(graph: Graph, name: str, value: Any) -> Node:
    attrs = {"dtype": as_dtype(value.dtype), "value": TensorAttr(array=value)}
    return graph.add("Const", name, attrs=attrs)


def placeholder(graph: Graph, dtype: Any = FLOAT32) -> Node:
    return graph.add("Placeholder", "x", attrs={"dtype": dtype, "shape": None})


def opened(graph: Graph, file: Path) -> Session:
    """A session of the graph as a file holds it."""
    native_ops.load()
    write_graph(graph, file)
    return Session(read_graph(file), SessionConfig(executor="native", optimizer="off"))


def product(inner: int, outer: int, **attrs: bool) -> tuple[Graph, Any]:
    graph, w = Graph(), numbers(inner, outer)
    given = np.ascontiguousarray(w.T) if attrs.get("transpose_b") else w
    both = {"T": FLOAT32, "transpose_a": False, "transpose_b": False, **attrs}
    graph.add("MatMul", "y", [placeholder(graph), const(graph, "w", given)], attrs=both)
    return graph, w


def held() -> int:
    """Bytes of this process that belong to no file."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the system does not tell")


@pytest.mark.parametrize("flipped", [False, True])
def test_products_of_any_batch(tmp_path: Path, flipped: bool) -> None:
    graph, w = product(300, 200, transpose_b=flipped)
    session = opened(graph, tmp_path / "model.pb")
    for rows in (1, 2, 16, 128, 1, 16):
        x = numbers(rows, 300)
        np.testing.assert_allclose(session.run("y:0", {"x:0": x}), x @ w, rtol=1e-4, atol=1e-4)


def test_batched_products(tmp_path: Path) -> None:
    graph, w = Graph(), numbers(4, 96, 64)
    attrs = {"T": FLOAT32, "adj_x": False, "adj_y": False}
    graph.add("BatchMatMulV2", "y", [placeholder(graph), const(graph, "w", w)], attrs=attrs)
    session = opened(graph, tmp_path / "model.pb")
    x = numbers(4, 5, 96)
    np.testing.assert_allclose(session.run("y:0", {"x:0": x}), x @ w, rtol=1e-4, atol=1e-4)


def test_convolutions(tmp_path: Path) -> None:
    graph, w = Graph(), numbers(1, 1, 200, 150)
    attrs = {"T": FLOAT32, "strides": [1, 1, 1, 1], "padding": "SAME"}
    graph.add("Conv2D", "y", [placeholder(graph), const(graph, "w", w)], attrs=attrs)
    session = opened(graph, tmp_path / "model.pb")
    for size in (3, 8):
        x = numbers(1, size, size, 200)
        found = session.run("y:0", {"x:0": x})
        np.testing.assert_allclose(found, x @ w[0, 0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("width", [40, 400])  # elements of a row: read as a whole, and one by one
def test_rows_of_a_table(tmp_path: Path, width: int) -> None:
    graph, table = Graph(), numbers(1000, width)
    axis = const(graph, "axis", np.int32(0).reshape(()))
    inputs = [const(graph, "w", table), placeholder(graph, INT32), axis]
    attrs = {"Tparams": FLOAT32, "Tindices": INT32, "Taxis": INT32}
    graph.add("GatherV2", "y", inputs, attrs=attrs)
    session = opened(graph, tmp_path / "model.pb")
    for at in ([[0, 999, 7], [7, 7, 1]], list(range(1000)), []):
        x = np.array(at, np.int32)
        np.testing.assert_array_equal(session.run("y:0", {"x:0": x}), table[x])


def test_one_constant_for_several_kernels(tmp_path: Path) -> None:
    """One of them, which adds, needs it in memory: then all have it from there."""
    graph, w = product(300, 200)
    graph.add("AddV2", "sum", [graph["w"], graph["w"]], attrs={"T": FLOAT32})
    session = opened(graph, tmp_path / "model.pb")
    x = numbers(2, 300)
    product_, doubled = session.run(["y:0", "sum:0"], {"x:0": x})
    np.testing.assert_allclose(product_, x @ w, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(doubled, w + w)


def test_a_product_holds_its_weights_once(tmp_path: Path) -> None:
    side = 3500
    graph, w = product(side, side)
    file = tmp_path / "model.pb"
    native_ops.load()
    write_graph(graph, file)
    x = numbers(4, side)
    wanted = x @ w
    del graph, w
    session = Session(read_graph(file), SessionConfig(executor="native", optimizer="off"))
    before = held()
    found = session.run("y:0", {"x:0": x})
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-2)
    assert held() - before < 1.5 * side * side * 4


def layer(kind: str) -> tuple[Graph, int]:
    """A layer times a factor for each channel, and the channels of its input."""
    graph = Graph()
    shape = {"Conv2D": (3, 3, 32, 96), "DepthwiseConv2dNative": (3, 3, 2048, 1)}.get(
        kind, (300, 80)
    )
    channels = shape[-1] if kind != "DepthwiseConv2dNative" else shape[-2]
    window = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    attrs: dict[str, Any] = {"T": FLOAT32, **({} if kind == "MatMul" else window)}
    graph.add(kind, "l", [placeholder(graph), const(graph, "w", numbers(*shape))], attrs=attrs)
    graph.add("Mul", "m", [graph["l"], const(graph, "c", numbers(channels))], attrs={"T": FLOAT32})
    offsets = const(graph, "b", numbers(channels))
    graph.add("AddV2", "a", [graph["m"], offsets], attrs={"T": FLOAT32})
    graph.add("Relu", "y", [graph["a"]], attrs={"T": FLOAT32})
    return graph, shape[-2]


@pytest.mark.parametrize("kind", ["Conv2D", "DepthwiseConv2dNative", "MatMul"])
def test_weights_are_multiplied_on_the_way(tmp_path: Path, kind: str) -> None:
    native_ops.load()
    graph, channels = layer(kind)
    write_graph(graph, tmp_path / "model.pb")
    in_memory = Session(graph, SessionConfig(executor="native"))
    in_file = Session(read_graph(tmp_path / "model.pb"), SessionConfig(executor="native"))
    for size in (1, 4, 9):
        x = numbers(size, channels) if kind == "MatMul" else numbers(1, size, size, channels)
        found, wanted = (session.run("y:0", {"x:0": x}) for session in (in_file, in_memory))
        np.testing.assert_array_equal(found.view(np.uint32), wanted.view(np.uint32))


def test_a_convolution_holds_multiplied_weights_once(tmp_path: Path) -> None:
    native_ops.load()
    graph, w, c = Graph(), numbers(3, 3, 1024, 1024), numbers(1024)
    attrs = {"T": FLOAT32, "strides": [1, 1, 1, 1], "padding": "VALID"}
    graph.add("Conv2D", "l", [placeholder(graph), const(graph, "w", w)], attrs=attrs)
    graph.add("Mul", "y", [graph["l"], const(graph, "c", c)], attrs={"T": FLOAT32})
    write_graph(graph, tmp_path / "model.pb")
    del graph
    session = Session(read_graph(tmp_path / "model.pb"), SessionConfig(executor="native"))
    x = np.ones((1, 3, 3, 1024), np.float32)
    before = held()
    found = session.run("y:0", {"x:0": x})
    wanted = w.sum((0, 1, 2), dtype=np.float64) * c
    np.testing.assert_allclose(found.reshape(-1), wanted, rtol=1e-3, atol=1e-2)
    free_kept()
    assert held() - before < 1.5 * w.nbytes


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    graph, w = product(300, 200)
    file = tmp_path / "model.pb"
    session = opened(graph, file)
    file.unlink()
    for rows in (2, 16):
        x = numbers(rows, 300)
        np.testing.assert_allclose(session.run("y:0", {"x:0": x}), x @ w, rtol=1e-4, atol=1e-4)


def test_a_file_that_is_cut_off_fails_the_run_that_needs_it(tmp_path: Path) -> None:
    graph, table = Graph(), numbers(1000, 400)
    axis = const(graph, "axis", np.int32(0).reshape(()))
    inputs = [const(graph, "w", table), placeholder(graph, INT32), axis]
    attrs = {"Tparams": FLOAT32, "Tindices": INT32, "Taxis": INT32}
    graph.add("GatherV2", "y", inputs, attrs=attrs)
    file = tmp_path / "model.pb"
    session = opened(graph, file)
    first = np.zeros(1, np.int32)
    np.testing.assert_array_equal(session.run("y:0", {"x:0": first}), table[:1])
    os.truncate(file, 800_000)
    np.testing.assert_array_equal(session.run("y:0", {"x:0": first}), table[:1])
    with pytest.raises(BadModelFile) as raised:
        session.run("y:0", {"x:0": np.array([1, 999], np.int32)})
    assert raised.value.code == "file-changed"


def test_weights_that_are_packed_need_the_file_no_more(tmp_path: Path) -> None:
    graph, w = product(300, 200)
    file = tmp_path / "model.pb"
    session = opened(graph, file)
    x = numbers(16, 300)
    wanted = session.run("y:0", {"x:0": x})
    os.truncate(file, 0)
    np.testing.assert_array_equal(session.run("y:0", {"x:0": x}), wanted)
    np.testing.assert_allclose(wanted, x @ w, rtol=1e-4, atol=1e-4)
