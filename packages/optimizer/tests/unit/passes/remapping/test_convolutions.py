"""Convolutions with activations that only our own op knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, assert_same_values, run_pass

from drystone_base.core.dtypes import FLOAT32
from drystone_base.ops.own import FUSED_CONVOLUTION
from drystone_optimizer.passes import layer_fusion

NAME = "layer_fusion"
F = {"T": FLOAT32}
RNG = np.random.default_rng(23)
CHANNELS = {"Conv2D": 4, "DepthwiseConv2dNative": 6}


@pytest.fixture(autouse=True)
def _kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_fusion, "of_plugins", lambda: {FUSED_CONVOLUTION: ()})


def layer(m: Maker, op: str = "Conv2D", x: Any = None, bias: bool = False, **more: Any) -> str:
    """A convolution ``c`` of x; with a bias it is TensorFlow's fused one."""
    x = m.x(shape=(1, 5, 6, 3)) if x is None else x
    count = CHANNELS[op]
    held = m.const("w", RNG.normal(size=(3, 3, 3, 4 if op == "Conv2D" else 2)))
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"} | F | more
    if not bias:
        m.op(op, "c", x, held, **attrs)
        return "c"
    fused = {"Conv2D": "_FusedConv2D"}.get(op, f"_Fused{op}")
    types = {"TArgs": [FLOAT32]} if op == "Conv2D" else {}
    vector = m.const("b", RNG.normal(size=count))
    m.op(fused, "c", x, held, vector, num_args=1, fused_ops=["BiasAdd"], **attrs, **types)
    return "c"


def swish(m: Maker, x: str, flip: bool) -> None:
    gate = m.op("Sigmoid", "gate", x, **F)
    m.op("Mul", "y", *((gate, x) if flip else (x, gate)), **F)


def hard_swish(m: Maker, x: str, flip: bool) -> None:
    gate = m.op("Relu6", "gate", m.op("AddV2", "sum", x, m.const("three", 3.0), **F), **F)
    sixth = m.const("sixth", np.float32(1 / 6))
    if flip:
        m.op("Mul", "y", m.op("Mul", "part", sixth, x, **F), gate, **F)
    else:
        m.op("Mul", "y", x, m.op("Mul", "part", gate, sixth, **F), **F)


def slopes(m: Maker, x: str, flip: bool) -> None:
    positive = m.op("Relu", "positive", x, **F)
    negative = m.op("Minimum", "negative", x, m.const("zero", 0.0), **F)
    vector = m.const("slopes", RNG.normal(size=(1, 1, 4)))
    factors = (vector, negative) if flip else (negative, vector)
    m.op("AddV2", "y", positive, m.op("Mul", "part", *factors, **F), **F)


def residual(m: Maker, x: str, flip: bool) -> None:
    side = m.op("Tanh", "side", m.x("z", (1, 5, 6, 4)), **F)
    m.op("AddV2", "y", *((side, x) if flip else (x, side)), **F)


AFTER: dict[str, Any] = {
    "Swish": swish, "HardSwish": hard_swish, "PRelu": slopes, "Add": residual,
}  # fmt: skip


def feeds(m: Maker) -> dict[str, Any]:
    return {
        f"{node.name}:0": RNG.normal(size=node.attrs["shape"]).astype(np.float32) * 3
        for node in m.graph if node.op == "Placeholder"
    }  # fmt: skip


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("name", AFTER)
def test_a_layer_takes_in_what_follows(name: str, flip: bool, bias: bool) -> None:
    m = Maker()
    AFTER[name](m, layer(m, bias=bias), flip)
    given = feeds(m)
    made, report = run_pass(m.graph, NAME, ["y:0"], list(given))
    assert made["y"].op == FUSED_CONVOLUTION
    assert made["y"].attrs["fused_ops"] == [*(["BiasAdd"] if bias else []), name]
    assert {node.op for node in made} <= {FUSED_CONVOLUTION, "Const", "Placeholder", "Tanh"}
    assert report.steps[-1].numeric == "reassociates"
    assert_same_values(m.graph, made, ["y:0"], given, exact=False)
    again, _ = run_pass(made, NAME, ["y:0"], list(given))
    assert again is made


def test_one_activation_after_the_other() -> None:
    m = Maker()
    swish(m, layer(m, bias=True), False)
    m.op("AddV2", "s", "y", m.x("z", (1, 5, 6, 4)), **F)
    made, _ = run_pass(m.graph, NAME, ["s:0"], ["x:0", "z:0"])
    assert made["s"].attrs["fused_ops"] == ["BiasAdd", "Swish", "Add"]
    assert_same_values(m.graph, made, ["s:0"], feeds(m), exact=False)


@pytest.mark.parametrize("bias", [False, True])
def test_a_depthwise_layer_pads_by_itself(bias: bool) -> None:
    m = Maker()
    paddings = m.const("paddings", [[0, 0], [0, 1], [2, 1], [0, 0]])
    padded = m.op("Pad", "p", m.x(shape=(1, 5, 6, 3)), paddings, **F)
    layer(m, "DepthwiseConv2dNative", padded, bias, padding="VALID", strides=[1, 2, 2, 1])
    made, _ = run_pass(m.graph, NAME, ["c:0"], ["x:0"])
    assert "p" not in made
    assert made["c"].attrs["explicit_paddings"] == [0, 0, 0, 1, 2, 1, 0, 0]
    assert_same_values(m.graph, made, ["c:0"], feeds(m), exact=False)


def infinite(m: Maker) -> None:
    slopes(m, layer(m), False)
    m.graph.remove(m.graph["y"])
    part = m.op("Mul", "q", "negative", m.const("inf", np.full(4, np.inf)), **F)
    m.op("AddV2", "y", "positive", part, **F)


def twice(m: Maker) -> None:
    x = layer(m)
    m.op("AddV2", "y", x, x, **F)


def one_row(m: Maker) -> None:
    m.op("AddV2", "y", layer(m), m.x("z", (5, 6, 1)), **F)


def channels_first(m: Maker) -> None:
    x = m.x(shape=(1, 3, 5, 4))
    slopes(m, layer(m, x=x, data_format="NCHW"), False)


def another_sum(m: Maker) -> None:
    x = layer(m)
    gate = m.op("Relu6", "gate", m.op("AddV2", "sum", x, m.const("two", 2.0), **F), **F)
    m.op("Mul", "y", m.op("Mul", "part", m.const("sixth", 1 / 6), x, **F), gate, **F)


OTHERS = {f.__name__: f for f in (infinite, twice, one_row, channels_first, another_sum)}


@pytest.mark.parametrize("name", OTHERS)
def test_other_graphs_keep_their_layers(name: str) -> None:
    m = Maker()
    OTHERS[name](m)
    made, _ = run_pass(m.graph, NAME, ["y:0"], list(feeds(m)))
    assert FUSED_CONVOLUTION not in {node.op for node in made}


@pytest.mark.parametrize("name", AFTER)
def test_a_fetched_layer_stays(name: str) -> None:
    m = Maker()
    AFTER[name](m, layer(m), False)
    made, _ = run_pass(m.graph, NAME, ["y:0", "c:0"], list(feeds(m)))
    assert made["c"].op == "Conv2D"
    assert_same_values(m.graph, made, ["y:0", "c:0"], feeds(m), exact=False)
