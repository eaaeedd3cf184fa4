"""Row C13: remapping of normalizations, squeezed layers, hashed numbers and slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    as_lines,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    run_pass,
)

from drystone_base.core.dtypes import FLOAT16, FLOAT32, INT32, STRING

F = {"T": FLOAT32}
FU = {"T": FLOAT32, "U": FLOAT32}
MAP = "remapping"
X = {"x:0": np.linspace(-2, 2, 48).reshape(2, 3, 4, 2).astype(np.float32)}


def norm(side: Any = None, activation: str = "Relu", op: str = "FusedBatchNormV3", **more: Any
         ) -> Maker:  # fmt: skip
    """Batch normalization of x, perhaps a sum with ``side`` (a shape), and an activation."""
    m = Maker()
    m.x(shape=(2, 3, 4, 2))
    training = more.get("is_training", False)
    held = [m.const("s", [1.5, 2.0]), m.const("o", [0.5, -1.0])]
    held += [m.const(n, [] if training else v) for n, v in (("m", [0.1, 0.2]), ("v", [1.0, 4.0]))]
    types = F if op == "FusedBatchNorm" else FU
    m.op(op, "n", "x", *held, epsilon=0.001, **types, **({"is_training": False} | more))
    last = "n"
    if side is not None:
        m.op("AddV2", "t", m.op("Neg", "z", m.x("side", side), **F), "n", **F)
        last = "t"
    m.op(activation, "y", last, **F)
    return m


def fed(m: Maker) -> dict[str, Any]:
    return X | ({"side:0": -X["x:0"]} if "side" in m.graph else {})


@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
@pytest.mark.parametrize("side", [None, (2, 3, 4, 2)])
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_activation(op: str, side: Any, training: bool) -> None:
    m = norm(side, op=op, is_training=training)
    m.op("Neg", "moments", "n:1", **F)
    fetches = ["y:0", "moments:0"]
    after, _ = run_pass(m.graph, MAP, fetches, list(fed(m)), numeric="exact")
    made = [node for node in after if node.op == "_FusedBatchNormEx"]
    assert [node.attrs["activation_mode"] for node in made] == ["Relu"]
    assert len(made[0].inputs) == (5 if side is None else 6)
    assert not {node.op for node in after} & {op, "Relu", "AddV2"}
    assert_same_values(m.graph, after, fetches, fed(m), exact=True)
    assert_same_natively(m.graph, after, fetches, fed(m))
    again, _ = run_pass(after, MAP, fetches, list(fed(m)), numeric="exact")
    assert again is after


NORMS_STAY: dict[str, tuple[Maker, list[str], list[str]]] = {
    "another activation": (norm(activation="Tanh"), ["y:0"], []),
    "fetched": (norm(), ["y:0", "n:0"], []),
    "fed": (norm(), ["y:0"], ["n:0"]),
    "fed moments": (norm(), ["y:0"], ["n:1"]),
    "fetched sum": (norm((2, 3, 4, 2)), ["y:0", "t:0"], []),
    "a sum that broadcasts": (norm((4, 2)), ["y:0"], []),
    "a sum of an unknown shape": (norm((-1, 3, 4, 2)), ["y:0"], []),
}


@pytest.mark.parametrize("name", NORMS_STAY)
def test_other_normalizations_stay(name: str) -> None:
    m, fetches, feeds = NORMS_STAY[name]
    assert_unchanged(m, MAP, fetches, [*fed(m), *feeds])


def test_a_normalization_that_others_read_stays() -> None:
    m = norm()
    m.op("Neg", "too", "n", **F)
    assert_unchanged(m, MAP, ["y:0", "too:0"], ["x:0"])


def test_only_where_plugins_bring_a_kernel_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    brought: dict[str, Any] = {"FusedBatchNormV3": ()}
    monkeypatch.setattr("drystone_optimizer.core.native_kernels.of_plugins", lambda: brought)
    assert_unchanged(norm(), MAP, ["y:0"], ["x:0"])


def test_a_convolution_takes_its_normalization_first() -> None:
    m = norm()
    m.graph.set_input(m.graph["n"], 0, m.op(
        "Conv2D", "l", "x", m.const("w", np.ones((1, 1, 2, 2))), strides=[1] * 4, padding="SAME",
        **F))  # fmt: skip
    after, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert after["y"].op == "_FusedConv2D"
    exact, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"], numeric="exact")
    assert exact["n"].op == "_FusedBatchNormEx"
    assert_same_values(m.graph, exact, ["y:0"], X, exact=True)


GRADIENTS = {
    "activation": (None, FLOAT32, ""),
    "side input": ((2, 3, 4, 4), FLOAT32, ""),
    "half, as on a GPU": (None, FLOAT16, ""),
    "half, that asks for a GPU": ((2, 3, 4, 4), FLOAT16, "/device:GPU:0"),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_normalizations_stay(name: str) -> None:
    """Row C13: TensorFlow makes _FusedBatchNormGradEx of these for cuDNN only (decision 0033)."""
    side, dtype, device = GRADIENTS[name]
    types = {"T": dtype, "U": FLOAT32}
    m = Maker()
    x, dy = m.x("x", (2, 3, 4, 4), dtype), m.x("dy", (2, 3, 4, 4), dtype)
    s, o = m.const("s", np.full(4, 1.5)), m.const("o", np.full(4, 0.5))
    nothing = m.const("m", []), m.const("v", [])
    m.op("FusedBatchNormV3", "n", x, s, o, *nothing, **types, is_training=True)
    last: Any = "n"
    if side is not None:
        last = m.op("AddV2", "t", "n", m.x("side", side, dtype), T=dtype)
    m.op("Relu", "y", last, T=dtype)
    m.op("ReluGrad", "dr", dy, "y", T=dtype)
    m.op("FusedBatchNormGradV3", "dn", "dr", x, s, "n:3", "n:4", "n:5", **types, is_training=True)
    feeds = ["x:0", "dy:0"]
    if side is not None:
        m.op("Neg", "dside", "dr", T=dtype)
        feeds.append("side:0")
    for node in m.graph:
        m.graph.set_device(node, device)
    ends = [f"dn:{k}" for k in range(3)] + (["dside:0"] if side is not None else [])
    # The forward pass is kept as it is, so that nothing but the gradients could be rewritten.
    assert_unchanged(m, MAP, [*ends, "y:0", "n:0"], feeds)


# ---- squeezed layers -----------------------------------------------------------------------------


def squeezed(dims: list[int], **more: Any) -> Maker:
    m = Maker()
    m.x(shape=(2, 3, 4, 2))
    weights = m.const("w", np.linspace(-1, 1, 48).reshape(3, 4, 2, 2))
    m.op("Conv2D", "l", "x", weights, strides=[1] * 4, padding="VALID", **F)
    m.op("Squeeze", "q", "l", squeeze_dims=dims, **F)
    m.op("BiasAdd", "y", "q", m.const("b", [0.5, -0.25]), **F, **more)
    return m


@pytest.mark.parametrize("dims", [[1], [2], [1, 2], [-3]])
def test_bias_before_squeeze(dims: list[int]) -> None:
    m = squeezed(dims)
    after, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert {"y = Squeeze(y/biased)", "y/biased = _FusedConv2D(x, w, b)"} <= set(as_lines(after))
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)
    again, _ = run_pass(after, MAP, ["y:0"], ["x:0"])
    assert again is after


def test_what_is_squeezed_otherwise_stays() -> None:
    assert_unchanged(squeezed([]), MAP, ["y:0"], ["x:0"])
    assert_unchanged(squeezed([2], data_format="NCHW"), MAP, ["y:0"], ["x:0"])
    assert_unchanged(squeezed([2]), MAP, ["y:0", "q:0"], ["x:0"])
    assert_unchanged(squeezed([2]), MAP, ["y:0", "l:0"], ["x:0"])


# ---- numbers that are hashed ---------------------------------------------------------------------


def hashed(dtype: Any = INT32, **more: Any) -> Maker:
    m = Maker()
    m.op("AsString", "s", m.x(shape=(3,), dtype=dtype), T=dtype, **more)
    m.op("StringToHashBucketFast", "y", "s", num_buckets=1000)
    return m


def test_hash_of_numbers() -> None:
    m = hashed()
    after, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert "y = _TensorToHashBucketFast(x)" in as_lines(after)
    assert_same_values(
        m.graph, after, ["y:0"], {"x:0": np.array([-7, 0, 12], np.int32)}, exact=True
    )
    again, _ = run_pass(after, MAP, ["y:0"], ["x:0"])
    assert again is after


@pytest.mark.parametrize(
    "m", [hashed(width=5), hashed(fill="0"), hashed(FLOAT32), hashed(STRING)],
    ids=["width", "fill", "floats", "strings"],
)  # fmt: skip
def test_other_texts_are_written_first(m: Maker) -> None:
    assert_unchanged(m, MAP, ["y:0"], ["x:0"])


def test_texts_that_are_read_stay() -> None:
    assert_unchanged(hashed(), MAP, ["y:0", "s:0"], ["x:0"])


# ---- slopes --------------------------------------------------------------------------------------


def slope(part: Any, product: str = "l") -> Maker:
    m = Maker()
    m.x(shape=(3, 4))
    m.op("MatMul", "p", "x", m.const("w", np.linspace(-1, 1, 8).reshape(4, 2)), **F)
    m.op("BiasAdd", "l", "p", m.const("b", [0.5, -0.25]), **F)
    m.op("Mul", "a", m.const("c", part), product, **F)
    m.op("Maximum", "y", "l", "a", **F)
    return m


def test_leaky_relu_as_the_larger_of_all_and_a_part() -> None:
    m = slope(0.25)
    feeds = {"x:0": np.linspace(-3, 3, 12).reshape(3, 4).astype(np.float32)}
    after, _ = run_pass(m.graph, MAP, ["y:0"], ["x:0"])
    assert "y = _FusedMatMul(x, w, b)" in as_lines(after)
    assert after["y"].attrs["fused_ops"] == ["BiasAdd", "LeakyRelu"]
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=True)
    again, _ = run_pass(after, MAP, ["y:0"], ["x:0"])
    assert again is after


@pytest.mark.parametrize("part", [0.0, 1.5, -0.5, np.nan, [0.25, 0.5]])
def test_other_parts_stay(part: Any) -> None:
    after, _ = run_pass(slope(part).graph, MAP, ["y:0"], ["x:0"])
    assert after["y"].op == "Maximum"


def test_a_part_of_something_else_or_that_is_read_stays() -> None:
    m = slope(0.25)
    after, _ = run_pass(m.graph, MAP, ["y:0", "a:0"], ["x:0"])
    assert after["y"].op == "Maximum"
    other = slope(0.25, product="p")
    after, _ = run_pass(other.graph, MAP, ["y:0"], ["x:0"])
    assert after["y"].op == "Maximum"
