"""NaN goes through layers with what is fused to them, and no farther than it goes by itself."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from agreement import assert_agrees
from native_ops import load, needs_onednn, run_native

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import run_op
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.own import FUSED_CONVOLUTION

pytestmark = needs_onednn()

KINDS = [np.float32, ml_dtypes.bfloat16, np.float16]
ACTIVATIONS = ["Relu", "Relu6", "LeakyRelu", "Elu", "Sigmoid", "Tanh", "Softplus", "HardSwish",
               "GeluApproximate", "Swish"]  # fmt: skip
LAYERS = {  # image, filter
    "small": ((1, 8, 8, 16), (3, 3, 16, 24)),
    "odd": ((1, 5, 5, 7), (3, 3, 7, 5)),
    "pointwise": ((1, 7, 7, 64), (1, 1, 64, 64)),
    "shared": ((1, 56, 56, 64), (1, 1, 64, 64)),  # among threads
    "depthwise": ((2, 6, 6, 9), (3, 3, 9, 1)),
}


def holes(x: Any) -> Any:
    """Which elements are NaN, which infinite."""
    x = np.asarray(x).astype(np.float32)
    return np.isnan(x), np.isinf(x)


def assert_same_holes(op: str, *inputs: Any, **attrs: Any) -> None:
    found, wanted = (holes(run(op, *inputs, **attrs)[0]) for run in (run_native, run_op))
    assert wanted[0].any()
    assert not wanted[0].all()
    np.testing.assert_array_equal(found[0], wanted[0], err_msg=str(attrs))
    np.testing.assert_array_equal(found[1], wanted[1], err_msg=str(attrs))


def spoiled(rng: np.random.Generator, shape: tuple[int, ...], kind: Any, *values: float) -> Any:
    x = rng.normal(size=shape).astype(kind)
    x.flat[rng.permutation(x.size)[: len(values)]] = values
    return x


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layer", LAYERS)
def test_convolutions(layer: str, kind: Any, activation: str) -> None:
    rng = np.random.default_rng(3)
    image, filters = LAYERS[layer]
    wide = filters[2] if layer == "depthwise" else filters[3]
    x = spoiled(rng, image, kind, np.nan, np.inf)
    w = (rng.normal(size=filters) / 9).astype(kind)
    bias = rng.normal(size=wide).astype(kind)
    side = spoiled(rng, (*image[:3], wide), kind, np.nan, -np.inf)
    whole = spoiled(rng, (*image[:3], wide), kind)
    for steps, more in (
        ([activation], []),
        (["BiasAdd", activation], [bias]),
        (["BiasAdd", "Add", activation], [bias, whole]),
        (["Add", activation], [side]),
        (["BiasAdd", activation, "Mul", "Relu"], [bias, side]),
    ):
        op = "DepthwiseConv2dNative" if layer == "depthwise" else "Conv2D"
        assert_same_holes(
            FUSED_CONVOLUTION, x, w, *more, fused_ops=steps, num_args=len(more), padding="SAME",
            strides=[1, 1, 1, 1], layer=op,
        )  # fmt: skip


@pytest.mark.parametrize("activation", ["Relu", "Relu6", "LeakyRelu", "Elu", "Sigmoid", "Tanh"])
@pytest.mark.parametrize("kind", KINDS)
def test_products(kind: Any, activation: str) -> None:
    rng = np.random.default_rng(4)
    for rows, inner, columns in ((4, 16, 24), (3, 7, 5), (300, 128, 256)):
        a = spoiled(rng, (rows, inner), kind, np.nan)
        b = rng.normal(size=(inner, columns)).astype(kind)
        bias = rng.normal(size=columns).astype(kind)
        steps = ["BiasAdd", activation]
        assert_same_holes("_FusedMatMul", a, b, bias, fused_ops=steps, num_args=1)


@pytest.mark.parametrize("row", [2, 109])
@pytest.mark.parametrize("op", ["_FusedConv2D", "_FusedMatMul"])
def test_nan_in_what_another_thread_computes(op: str, row: int) -> None:
    """Whoever takes a piece of a layer: one of them meets NaN in the first or the last rows."""
    load()
    kind = as_dtype("float32")
    rng = np.random.default_rng(7)
    shape = (1, 112, 112, 32) if op == "_FusedConv2D" else (112, 112 * 32)
    w = rng.normal(size=(3, 3, 32, 32) if op == "_FusedConv2D" else (112 * 32, 64))
    graph = Graph()
    given = [graph.add("Placeholder", "x", attrs={"dtype": kind, "shape": None})]
    for name, value in (("w", w), ("b", np.zeros(w.shape[-1]))):
        held = TensorAttr(array=value.astype(np.float32))
        given.append(graph.add("Const", name, attrs={"dtype": kind, "value": held}))
    attrs: dict[str, Any] = {"T": kind, "num_args": 1, "fused_ops": ["BiasAdd", "Relu"]}
    if op == "_FusedConv2D":
        attrs |= {"TArgs": [kind], "strides": [1, 1, 1, 1], "padding": "SAME"}
    graph.add(op, "y", given, attrs=attrs)
    session = Session(graph, SessionConfig(optimizer="off", intra_op_threads=2))
    x = rng.normal(size=shape).astype(np.float32)
    x.reshape(112, -1)[row, 5] = np.nan
    found = [int(np.isnan(session.run("y:0", {"x:0": x})).sum()) for _ in range(40)]
    assert found == [6 * 32 if op == "_FusedConv2D" else 64] * 40


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channels", [1, 3, 5, 8])
def test_a_pixel_leaves_its_neighbours_alone(channels: int, kind: Any) -> None:
    """Numbers of 16 bits are multiplied in pairs, of which one may be the next pixel's."""
    rng = np.random.default_rng(5)
    for value in (np.nan, np.inf):
        x = spoiled(rng, (1, 6, 6, channels), kind, value)
        w = rng.normal(size=(1, 1, channels, 4)).astype(kind)
        for order in ("NHWC", "NCHW"):
            image = x if order == "NHWC" else x.transpose(0, 3, 1, 2)
            found = run_native(
                "Conv2D", image, w, strides=[1] * 4, padding="SAME", data_format=order
            )
            finite = np.isfinite(found[0].astype(np.float32))
            assert np.sum(~finite) == 4, (order, value)


@pytest.mark.parametrize("op", ["UnsortedSegmentMax", "UnsortedSegmentMin"])
def test_segments(op: str) -> None:
    """NaN wins, unlike where something is scattered into what is there."""
    data = np.array([[1, np.nan], [np.nan, 2], [3, 4]], np.float32)
    assert_agrees(op, data, np.array([0, 0, 1], np.int32), np.int32(2))


def residual(first: Any, steps: int, weight: float) -> tuple[Graph, dict[str, Any]]:
    """``steps`` times Relu(y + conv(y) + bias), from an image that is fed; ``weight`` is one's."""
    rng = np.random.default_rng(6)
    graph, kind = Graph(), as_dtype("float32")

    def constant(name: str, value: Any) -> Any:
        held = TensorAttr(array=np.asarray(value, np.float32))
        return graph.add("Const", name, attrs={"dtype": kind, "value": held})

    x = graph.add("Placeholder", "x", attrs={"dtype": kind, "shape": None})
    y = graph.add("Relu6", "start", [x], attrs={"T": kind})
    windows = {"T": kind, "strides": [1, 1, 1, 1], "padding": "SAME"}
    for k in range(steps):
        values = rng.normal(size=(3, 3, 8, 8)) / 9
        values[1, 1, 3, 4] = weight
        w = constant(f"w{k}", values)
        made = graph.add("Conv2D", f"conv{k}", [y, w], attrs=windows)
        made = graph.add("BiasAdd", f"bias{k}", [made, constant(f"b{k}", np.ones(8))],
                         attrs={"T": kind})  # fmt: skip
        made = graph.add("AddV2", f"sum{k}", [made, y], attrs={"T": kind})
        y = graph.add("Relu", f"y{k}", [made], attrs={"T": kind})
    return graph, {"x:0": first}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.0])
@pytest.mark.parametrize("weight", [0.5, np.inf])
def test_sums_in_place(value: float, weight: float) -> None:
    """What was added is gone when NaN shows up: it is kept where it is not finite itself."""
    load()
    first = np.random.default_rng(8).normal(size=(1, 9, 9, 8)).astype(np.float32)
    first[0, 4, 4, 2] = value
    graph, feeds = residual(first, 2, weight)
    fetch = "y1:0"
    wanted = Session(graph, SessionConfig(optimizer="off", executor="reference")).run(fetch, feeds)
    found = Session(graph).run(fetch, feeds)
    for got, want in zip(holes(found), holes(wanted), strict=True):
        np.testing.assert_array_equal(got, want)
