"""Row C13: remapping, layers with what follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_same_values, assert_unchanged, run_pass

from drystone_base.core.dtypes import FLOAT32, FLOAT64, INT32

F = {"T": FLOAT32}
MAP = "remapping"
LAYERS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "Conv2D": ((1, 4, 4, 3), (2, 2, 3, 2), {"strides": [1, 2, 2, 1], "padding": "SAME"}),
    "Conv3D": ((1, 3, 3, 3, 2), (2, 2, 2, 2, 2), {"strides": [1] * 5, "padding": "VALID"}),
    "DepthwiseConv2dNative": ((1, 4, 4, 1), (2, 2, 1, 2),
                              {"strides": [1, 1, 1, 1], "padding": "SAME"}),
    "MatMul": ((3, 4), (2, 4), {"transpose_b": True}),
}  # fmt: skip


def layer(op: str, after: Any, dtype: Any = FLOAT32, **more: Any) -> tuple[Maker, dict[str, Any]]:
    """The layer ``l`` of x, what ``after`` adds to it up to ``y``, and feeds."""
    shape, weights, attrs = LAYERS[op]
    rng = np.random.default_rng(3)
    m = Maker()
    m.x(shape=shape, dtype=dtype)
    held = m.const("w", rng.normal(size=weights), dtype)
    m.op(op, "l", "x", held, T=dtype, **(attrs | more))
    after(m)
    return m, {"x:0": rng.normal(size=shape).astype(dtype.np)}


def bias(m: Maker, op: str = "BiasAdd", name: str = "y", **more: Any) -> None:
    m.op(op, name, "l", m.const("b", [0.5, -0.25]), **F, **more)


@pytest.mark.parametrize("op", LAYERS)
@pytest.mark.parametrize("add", ["BiasAdd", "AddV2"])
def test_bias_and_activation(op: str, add: str) -> None:
    def after(m: Maker) -> None:
        bias(m, add, "s")
        m.op("Relu", "y", "s", **F)

    m, feeds = layer(op, after)
    made, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert [line for line in as_lines(made) if "Fused" in line] == [f"y = _Fused{op}(x, w, b)"]
    assert made["y"].attrs["fused_ops"] == ["BiasAdd", "Relu"]
    assert_same_values(m.graph, made, ["y:0"], feeds, exact=True)
    again, _ = run_pass(made, MAP, ["y:0"], ["x:0"])
    assert again is made


def test_slope_of_a_leaky_activation() -> None:
    def after(m: Maker) -> None:
        bias(m, name="s")
        m.op("LeakyRelu", "y", "s", alpha=0.3, **F)

    m, feeds = layer("Conv2D", after)
    made, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert made["y"].attrs["leakyrelu_alpha"] == pytest.approx(0.3)
    assert_same_values(m.graph, made, ["y:0"], feeds, exact=True)


def test_residual_sum_with_a_tensor_of_the_same_shape() -> None:
    def after(m: Maker) -> None:
        bias(m, name="s")
        m.op("AddV2", "t", m.op("Identity", "side", m.x("z", (1, 2, 2, 2)), **F), "s", **F)
        m.op("Relu6", "y", "t", **F)

    m, feeds = layer("Conv2D", after)
    feeds["z:0"] = np.ones((1, 2, 2, 2), np.float32)
    made, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0", "z:0"])
    assert made["y"].attrs["fused_ops"] == ["BiasAdd", "Add", "Relu6"]
    assert_same_values(m.graph, made, ["y:0"], feeds, exact=True)


def norm(m: Maker, training: bool = False, op: str = "FusedBatchNormV3", **more: Any) -> Any:
    held = [m.const(n, v) for n, v in (("s", [1.5, 2.0]), ("o", [0.5, 1.0]), ("m", [0.1, 0.2]),
                                       ("v", [1.0, 4.0]))]  # fmt: skip
    types = {"T": FLOAT32} if op == "FusedBatchNorm" else {"T": FLOAT32, "U": FLOAT32}
    return m.op(op, "n", "l", *held, is_training=training, epsilon=0.001, **types, **more)


@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV3"])
def test_batch_normalization(op: str) -> None:
    def after(m: Maker) -> None:
        norm(m, op=op)
        m.op("Relu", "y", "n", **F)

    m, feeds = layer("Conv2D", after)
    made, report = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert made["y"].attrs["fused_ops"] == ["FusedBatchNorm", "Relu"]
    assert report.steps[0].numeric == "reassociates"
    assert_same_values(m.graph, made, ["y:0"], feeds, exact=False)


def with_bias(**more: Any) -> Any:
    return lambda m: bias(m, **more)


STAYS = {
    "fetched layer": (with_bias(), ["y:0", "l:0"], {}),
    "wrong layout": (with_bias(data_format="NCHW"), ["y:0"], {}),
    "scalar": (lambda m: m.op("AddV2", "y", "l", m.const("b", 1.0), **F), ["y:0"], {}),
    "one for all": (lambda m: m.op("AddV2", "y", "l", m.const("b", [1.0]), **F), ["y:0"], {}),
    "matrix": (lambda m: m.op("AddV2", "y", "l", m.const("b", np.ones((2, 2))), **F), ["y:0"], {}),
    "another device": (with_bias(device="/device:GPU:0"), ["y:0"], {}),
    "training": (lambda m: (norm(m, training=True), m.op("Neg", "y", "n", **F)), ["y:0"], {}),
    "moments read": (lambda m: (norm(m), m.op("Neg", "y", "n", **F), m.op("Neg", "z", "n:1", **F)),
                     ["y:0", "z:0"], {}),
    "exact": (lambda m: (norm(m), m.op("Neg", "y", "n", **F)), ["y:0"], {"numeric": "exact"}),
    "no bias": (lambda m: m.op("Relu", "y", "l", **F), ["y:0"], {}),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str) -> None:
    after, fetches, more = STAYS[name]
    m, _ = layer("Conv2D", after)
    assert_unchanged(m, MAP, fetches, ["x:0"], **more)


def test_a_layer_that_is_waited_for_or_read_twice_stays() -> None:
    def waited(m: Maker) -> None:
        bias(m, name="s")
        m.op("Neg", "y", "s", controls=["l"], **F)

    def twice(m: Maker) -> None:
        bias(m, name="s")
        m.op("Mul", "y", "s", "l", **F)

    for after in (waited, twice):
        assert_unchanged(layer("Conv2D", after)[0], MAP, ["y:0"], ["x:0"])


def test_types_without_a_fused_op_stay() -> None:
    m = Maker()
    m.x(shape=(2, 2), dtype=INT32)
    m.op("MatMul", "l", "x", m.const("w", np.ones((2, 2), int)), T=INT32)
    m.op("BiasAdd", "y", "l", m.const("b", [1, 2]), T=INT32)
    assert_unchanged(m, MAP, ["y:0"], ["x:0"])


def test_explicit_padding_of_depthwise_layers_stays() -> None:
    attrs = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 1, 1, 1, 0, 0]}
    m, _ = layer("DepthwiseConv2dNative", with_bias(), **attrs)
    assert_unchanged(m, MAP, ["y:0"], ["x:0"])


def test_doubles_are_fused() -> None:
    def after(m: Maker) -> None:
        m.op("BiasAdd", "y", "l", m.const("b", [0.5, -0.25], FLOAT64), T=FLOAT64)

    m, feeds = layer("Conv2D", after, FLOAT64)
    made, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert made["y"].op == "_FusedConv2D"
    assert_same_values(m.graph, made, ["y:0"], feeds, exact=True)


def test_only_where_plugins_bring_kernels_for_the_fused_op(monkeypatch: pytest.MonkeyPatch) -> None:
    m, _ = layer("Conv2D", with_bias())
    monkeypatch.setattr("drystone_optimizer.core.native_kernels.of_plugins", lambda: {"Conv2D": ()})
    assert_unchanged(m, MAP, ["y:0"], ["x:0"])
    monkeypatch.setattr(
        "drystone_optimizer.core.native_kernels.of_plugins",
        lambda: {"Conv2D": (), "_FusedConv2D": ()},
    )
    assert run_pass(m.graph, MAP, ["y:0"], ["x:0"])[0]["y"].op == "_FusedConv2D"


@pytest.mark.parametrize("op", LAYERS)
def test_a_bias_with_dimensions_of_one(op: str) -> None:
    """Its vector is what is added to each channel."""
    rank = len(LAYERS[op][0])

    def after(m: Maker) -> None:
        m.op("AddV2", "y", "l", m.const("b", np.reshape([0.5, -0.25], (1,) * (rank - 1) + (2,))),
             **F)  # fmt: skip

    m, feeds = layer(op, after)
    made, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert f"y = _Fused{op}(x, w, y/bias)" in as_lines(made)
    assert made["y/bias"].attrs["value"].array.tolist() == [0.5, -0.25]
    assert "b" not in made
    assert_same_values(m.graph, made, ["y:0"], feeds, exact=True)
    again, _ = run_pass(made, MAP, ["y:0"], ["x:0"])
    assert again is made


@pytest.mark.parametrize("shape", [(1, 1, 1, 1, 2), (2, 1), (1, 2, 1, 1)])
def test_what_is_no_bias_stays(shape: Any) -> None:
    """More dimensions than the layer, or a number for each row."""

    def after(m: Maker) -> None:
        m.op("AddV2", "y", "l", m.const("b", np.reshape([0.5, -0.25], shape)), **F)

    m, _ = layer("Conv2D", after)
    assert_unchanged(m, MAP, ["y:0"], ["x:0"])


def test_a_bias_that_may_run_anywhere_goes_where_its_layer_is() -> None:
    m, _ = layer("Conv2D", bias, device="/device:CPU:0")
    made, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert (made["y"].op, made["y"].device) == ("_FusedConv2D", "/device:CPU:0")


def test_a_layer_on_another_device_stays() -> None:
    m, _ = layer("Conv2D", lambda m: bias(m, device="/device:CPU:1"), device="/device:CPU:0")
    assert_unchanged(m, MAP, ["y:0"], ["x:0"])
