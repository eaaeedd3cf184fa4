"""Quantized layers: what stands on grids of eight bits is computed with the integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    run_pass,
    told,
)

from drystone_base.core.dtypes import FLOAT32, INT32, QINT8, QUINT8
from drystone_base.graph import Output
from drystone_base.ops.own import FROM_GRID, QUANTIZED_LAYER, TO_GRID
from drystone_optimizer import OptimizerConfig
from drystone_optimizer.passes import quantized_layers

F: dict[str, Any] = {"T": FLOAT32}
NAME = "quantized_layers"
RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def _with_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a plugin had them; the reference runs what comes out."""
    ops = dict.fromkeys((QUANTIZED_LAYER, TO_GRID, FROM_GRID), ())
    monkeypatch.setattr(quantized_layers, "of_plugins", lambda: ops)


class Net(Maker):
    """A network whose tensors are quantized to eight bits in a simulation by floats."""

    def quantize(self, name: str, x: Any, low: float = -1.0, high: float = 1.5) -> Output:
        """A tensor on a grid."""
        ends = [self.const(f"{name}_{k}", np.float32(v)) for k, v in (("low", low), ("high", high))]
        return self.op("FakeQuantWithMinMaxVars", name, x, *ends)

    def weights(self, name: str, *shape: int, each: bool = True) -> Output:
        """Weights with a grid for each channel, or one for all."""
        value = RNG.normal(size=shape).astype(np.float32)
        held = self.const(f"{name}_w", value)
        if not each:
            top = float(np.abs(value).max())
            span = [
                self.const(f"{name}_{k}", np.float32(s * top)) for k, s in (("a", -1), ("b", 1))
            ]
            return self.op("FakeQuantWithMinMaxVars", name, held, *span, narrow_range=True)
        tops = np.abs(value).reshape(-1, shape[-1]).max(0)
        span = [self.const(f"{name}_{k}", s * tops) for k, s in (("a", -1), ("b", 1))]
        return self.op("FakeQuantWithMinMaxVarsPerChannel", name, held, *span, narrow_range=True)

    def conv(self, name: str, x: Any, w: Output, op: str = "_FusedConv2D", **more: Any) -> Output:
        """A convolution, by default with a bias and a rectifier."""
        attrs = F | {"strides": [1, 1, 1, 1], "padding": "SAME"} | more
        if not op.startswith("_Fused"):
            return self.op(op, name, x, w, **attrs)
        bias = self.const(f"{name}_bias", RNG.normal(size=more.pop("count")).astype(np.float32))
        attrs = {k: v for k, v in attrs.items() if k != "count"}
        steps = {"fused_ops": ["BiasAdd", "Relu"], "num_args": 1, "TArgs": [FLOAT32]}
        if op != "_FusedConv2D":
            del steps["TArgs"]
        return self.op(op, name, x, w, bias, **attrs, **steps)


def ops(graph: Any) -> list[str]:
    """The ops of a graph but constants, sorted."""
    return sorted(n.op.removeprefix("Drystone>") for n in graph if n.op != "Const")


def test_a_network_of_integers() -> None:
    """Only what comes in is quantized; the rest is integers up to the last layer."""
    m = Net()
    x = m.quantize("xq", m.x(shape=(2, 8, 8, 3)))
    first = m.quantize("q1", m.conv("c1", x, m.weights("w1", 3, 3, 3, 8), count=8), 0, 6)
    pooled = m.op(
        "MaxPool", "pool", first, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID", **F
    )
    fused = "_FusedDepthwiseConv2dNative"
    wide = m.conv("c2", pooled, m.weights("w2", 3, 3, 8, 1, each=False), fused, count=8)
    second = m.quantize("q2", wide, 0, 5)
    rows = m.op(
        "Reshape", "rows", second, m.const("to", [2, 128]), Tshape=INT32, **F
    )  # fmt: skip
    product = m.op("MatMul", "product", rows, m.weights("w3", 128, 5), **F)
    m.op("BiasAdd", "y", product, m.const("b3", RNG.normal(size=5).astype(np.float32)), **F)
    feeds = {"x:0": RNG.uniform(-2, 2, (2, 8, 8, 3)).astype(np.float32)}
    after, report = run_pass(m.graph, NAME, ["y:0"], list(feeds))
    assert ops(after) == [
        "BiasAdd", "MaxPool", "Placeholder", *["QuantizedLayer"] * 3, "Reshape", "ToGrid",
    ]  # fmt: skip
    assert after["product"].attrs["Tout"] is FLOAT32
    [step] = [s for s in report.steps if s.outcome == "changed"]
    assert dict(step.rewrites) == {
        "integer-layer": 3, "shared-dequantize": 2, "requantize-layer": 2,
        "move-integers": 2,
    }  # fmt: skip
    assert step.numeric == "approximate"
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=False, tolerance=1e-4)
    assert_same_natively(m.graph, after, ["y:0"], feeds, tolerance=1e-4)


def product(m: Net, x: Output, w: Output, **more: Any) -> Output:
    """A matrix product, the network's result."""
    return m.op("MatMul", "y", x, w, **F, **more)


def one_layer(w: str = "each") -> tuple[Net, Output, Output]:
    """A quantized input of four numbers, and weights for five results."""
    m = Net()
    return m, m.quantize("xq", m.x(shape=(-1, 4))), m.weights("w", 4, 5, each=w == "each")


ROWS = {"x:0": RNG.uniform(-2, 2, (6, 4)).astype(np.float32)}


def assert_layers(m: Net, expected: list[str], **more: Any) -> Any:
    """The pass leaves these ops, and equal values but for roundings; what it leaves."""
    after, _ = run_pass(m.graph, NAME, ["y:0"], ["x:0"], **more)
    assert ops(after) == expected
    assert_same_values(m.graph, after, ["y:0"], ROWS, exact=False, tolerance=1e-4)
    return after


LAYER = ["Placeholder", "QuantizedLayer", "ToGrid"]


@pytest.mark.parametrize("kind", ["each", "all"])
def test_a_layer(kind: str) -> None:
    m, x, w = one_layer(kind)
    product(m, x, w)
    after = assert_layers(m, LAYER)
    assert after["y"].attrs["x_zero"] == 102  # of -1 to 1.5
    scales = after["y/scales"].attrs["value"].array
    assert (len(set(scales.tolist())) == 1) is (kind == "all")


def test_transposed_weights() -> None:
    m = Net()
    x = m.quantize("xq", m.x(shape=(-1, 4)))
    product(m, x, m.weights("turned", 5, 4, each=False), transpose_b=True)
    assert_layers(m, LAYER)


def test_a_range_in_attributes() -> None:
    m = Net()
    x = m.op("FakeQuantWithMinMaxArgs", "xq", m.x(shape=(-1, 4)), min=-0.5, max=2.0, num_bits=6)
    product(m, x, m.weights("w", 4, 5))
    after = assert_layers(m, LAYER)
    assert after["xq/integers"].attrs["last"] == 63


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("mode", ["HALF_UP", "HALF_TO_EVEN"])
def test_quantize_and_dequantize(signed: bool, mode: str) -> None:
    """The op that quantizes to even steps; of weights along an axis, in their own type."""
    m = Net()
    ends = [m.const(f"x_{v}", np.float32(v)) for v in (-1.25, 1.75)]
    x = m.op("QuantizeAndDequantizeV2", "xq", m.x(shape=(-1, 4)), *ends, **F,
             signed_input=signed, range_given=True, round_mode=mode)  # fmt: skip
    value = RNG.normal(size=(4, 5)).astype(np.float32)
    integers = m.const("integers", RNG.integers(-127, 128, (4, 5)).astype(np.int8), QINT8)
    top = np.abs(value).max(0)
    span = [m.const("a", -top), m.const("b", top)]
    w = m.op("Dequantize", "w", integers, *span, T=QINT8, mode="SCALED", axis=1, narrow_range=True)
    product(m, x, w)
    after = assert_layers(m, LAYER)
    assert str(after["y"].attrs["Tx"]) == ("int8" if signed else "uint8")


@pytest.mark.parametrize("dtype", [QUINT8, QINT8])
@pytest.mark.parametrize("mode", ["MIN_FIRST", "SCALED", "MIN_COMBINED"])
def test_a_pair_that_quantizes_and_dequantizes(mode: str, dtype: Any) -> None:
    """Of what comes in, and of what a layer gives."""
    m = Net()

    def both(name: str, x: Output, low: float, high: float) -> Output:
        ends = [m.const(f"{name}_{v}", np.float32(v)) for v in (low, high)]
        q = m.op("QuantizeV2", f"{name}_q", x, *ends, T=dtype, mode=mode)
        return m.op("Dequantize", name, q, f"{name}_q:1", f"{name}_q:2", T=dtype, mode=mode)

    x = both("xq", m.x(shape=(-1, 4)), -1.02, 1.53)
    hidden = both("hidden", m.op("MatMul", "first", x, m.weights("w", 4, 5), **F), 0, 3)
    product(m, hidden, m.weights("w2", 5, 5))
    m.op("Exp", "other", hidden, **F)
    after, _ = run_pass(m.graph, NAME, ["y:0", "other:0"], ["x:0"])
    found = ["Exp", "FromGrid", "Placeholder", *["QuantizedLayer"] * 2, "ToGrid"]
    assert ops(after) == found
    assert_same_values(m.graph, after, ["y:0", "other:0"], ROWS, exact=False, tolerance=1e-4)


def test_readers_beside_layers_get_floats_of_the_integers() -> None:
    m, x, w = one_layer()
    hidden = m.quantize("hidden", m.op("MatMul", "first", x, w, **F), -3, 3)
    other = m.op("Exp", "other", hidden, **F)
    last = m.op("MatMul", "last", hidden, m.weights("w2", 5, 5), **F)
    m.op("AddV2", "y", last, other, **F)
    expected = ["AddV2", "Exp", "FromGrid", "Placeholder", *["QuantizedLayer"] * 2, "ToGrid"]
    after = assert_layers(m, expected)
    assert str(after["hidden/integers"].attrs["Tout"]) == "uint8"


def test_what_is_kept_or_read_as_it_is_stays_in_floats() -> None:
    """A layer that is fetched itself, before it is quantized."""
    m, x, w = one_layer()
    first = m.op("MatMul", "first", x, w, **F)
    product(m, m.quantize("hidden", first, -3, 3), m.weights("w2", 5, 5))
    after, _ = run_pass(m.graph, NAME, ["y:0", "first:0"], ["x:0"])
    assert after["first"].op == QUANTIZED_LAYER
    assert after["first"].attrs["Tout"] is FLOAT32
    assert_same_values(m.graph, after, ["y:0", "first:0"], ROWS, exact=False, tolerance=1e-4)


def test_moved_floats_that_someone_reads_stay() -> None:
    m, x, w = one_layer()
    hidden = m.quantize("hidden", m.op("MatMul", "first", x, w, **F), -3, 3)
    rows = m.op("Reshape", "rows", hidden, m.const("to", [-1, 5]), Tshape=INT32, **F)
    last = m.op("MatMul", "last", rows, m.weights("w2", 5, 5), **F)
    m.op("AddV2", "y", last, m.op("Neg", "other", rows, **F), **F)
    assert_layers(m, ["AddV2", "FromGrid", "Neg", "Placeholder", *["QuantizedLayer"] * 2, "Reshape",
              *["ToGrid"] * 2])  # fmt: skip


def unquantized_input(m: Net) -> None:
    product(m, m.x(shape=(-1, 4)), m.weights("w", 4, 5))


def unquantized_weights(m: Net) -> None:
    product(m, m.quantize("xq", m.x(shape=(-1, 4))), m.const("w", np.ones((4, 5), np.float32)))


def more_bits(m: Net) -> None:
    ends = [m.const(f"x_{v}", np.float32(v)) for v in (-1, 1)]
    x = m.op("FakeQuantWithMinMaxVars", "xq", m.x(shape=(-1, 4)), *ends, num_bits=9)
    product(m, x, m.weights("w", 4, 5))


def a_range_that_is_fed(m: Net) -> None:
    ends = [m.x("x", (-1, 4)), m.const("low", np.float32(-1)), m.x("high", ())]
    product(m, m.op("FakeQuantWithMinMaxVars", "xq", *ends), m.weights("w", 4, 5))


def steps_along_the_sum(m: Net) -> None:
    """Each channel would need several scales."""
    x = m.quantize("xq", m.x(shape=(-1, 4)))
    product(m, x, m.weights("w", 5, 4), transpose_b=True)


def weights_far_from_zero(m: Net) -> None:
    """Whose integers need more than eight bits with their sign."""
    ends = [m.const(f"w_{v}", np.float32(v)) for v in (0, 2)]
    held = m.const("held", np.linspace(0, 2, 20, dtype=np.float32).reshape(4, 5))
    w = m.op("FakeQuantWithMinMaxVars", "w", held, *ends)
    product(m, m.quantize("xq", m.x(shape=(-1, 4))), w)


def columns(m: Net) -> None:
    x = m.quantize("xq", m.x(shape=(4, -1)))
    product(m, x, m.weights("w", 4, 5), transpose_a=True)


def channels_first(m: Net) -> None:
    x = m.quantize("xq", m.x(shape=(1, 3, 8, 8)))
    m.conv("y", x, m.weights("w", 3, 3, 3, 8), "Conv2D", data_format="NCHW")


def several_filters(m: Net) -> None:
    x = m.quantize("xq", m.x(shape=(1, 8, 8, 3)))
    w = m.weights("w", 3, 3, 3, 2, each=False)
    m.conv("y", x, w, "DepthwiseConv2dNative")


def between_two_steps(m: Net) -> None:
    """Zero is no integer of that range."""
    ends = [m.const(f"x_{v}", np.float32(v)) for v in (-1, 1)]
    x = m.op("QuantizeV2", "q", m.x(shape=(-1, 4)), *ends, T=QUINT8)
    floats = m.op("Dequantize", "xq", x, "q:1", "q:2", T=QUINT8)
    product(m, floats, m.weights("w", 4, 5))


@pytest.mark.parametrize(
    "make",
    [
        unquantized_input, unquantized_weights, more_bits, a_range_that_is_fed,
        steps_along_the_sum, weights_far_from_zero, columns, channels_first, several_filters,
        between_two_steps,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_stays_in_floats(make: Any) -> None:
    m = Net()
    make(m)
    feeds = ["x:0", "high:0"] if "high" in m.graph else ["x:0"]
    assert_unchanged(m, NAME, ["y:0"], feeds)


def test_a_grid_of_its_own_is_no_integer_of_another() -> None:
    """What is quantized again, to another grid, is not passed on as it is."""
    m, x, w = one_layer()
    hidden = m.quantize("hidden", m.op("MatMul", "first", x, w, **F), -3, 3)
    again = m.quantize("again", hidden, -1, 2)
    product(m, again, m.weights("w2", 5, 5))
    after = assert_layers(m, ["FromGrid", "Placeholder", *["QuantizedLayer"] * 2, *["ToGrid"] * 2])
    assert after["hidden/integers"].attrs["scale"] == pytest.approx(6 / 255)


def test_exact_sessions_are_left_alone() -> None:
    m, x, w = one_layer()
    product(m, x, w)
    report = assert_unchanged(m, NAME, ["y:0"], ["x:0"], numeric="exact")
    assert "is to be exact" in told(report, NAME)


def test_off_by_default_and_left_out_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    m, x, w = one_layer()
    product(m, x, w)
    assert not OptimizerConfig().is_on(NAME)
    monkeypatch.setattr(quantized_layers, "of_plugins", dict)
    report = assert_unchanged(m, NAME, ["y:0"], ["x:0"])
    assert "no plugin has kernels" in told(report, NAME)
