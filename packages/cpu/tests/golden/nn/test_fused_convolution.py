"""The kernel of fused convolutions against NumPy's, and each step against its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_ops import needs_onednn, run_native

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import run_op
from drystone_base.ops.own import FUSED_CONVOLUTION

pytestmark = needs_onednn()

FLOAT = as_dtype("float32")
NEEDS = {"BiasAdd": "channels", "PRelu": "channels", "Add": "whole", "Mul": "whole"}
STEPS = ("BiasAdd", "Add", "Mul", "PRelu", "Swish", "HardSwish", "Relu", "Relu6", "LeakyRelu",
         "Sigmoid", "Elu")  # fmt: skip


def attributes(depthwise: bool, stride: int, padding: str, steps: list[str]) -> dict[str, Any]:
    explicit = [0, 0, 1, 0, 2, 1, 0, 0] if padding == "EXPLICIT" else []
    needed = sum(name in NEEDS for name in steps)
    return {
        "T": FLOAT, "layer": "DepthwiseConv2dNative" if depthwise else "Conv2D",
        "strides": [1, stride, stride, 1], "padding": padding, "explicit_paddings": explicit,
        "fused_ops": steps, "num_args": needed, "leakyrelu_alpha": 0.25, "hardswish_factor": 0.75,
    }  # fmt: skip


def arrays(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    window: int,
    count: int,
    attrs: dict[str, Any],
) -> list[Any]:
    """Input, filter, and what the steps take."""
    depthwise = attrs["layer"] == "DepthwiseConv2dNative"
    x = rng.normal(size=shape).astype(np.float32)
    w = rng.normal(size=(window, window, shape[-1], count)).astype(np.float32)
    plain = attrs | {"fused_ops": [], "num_args": 0}
    (y,) = run_op(FUSED_CONVOLUTION, x, w, **plain)
    channels = shape[-1] * count if depthwise else count
    sizes = {"channels": (channels,), "whole": y.shape}
    more = [
        rng.normal(size=sizes[NEEDS[name]]).astype(np.float32)
        for name in attrs["fused_ops"] if name in NEEDS
    ]  # fmt: skip
    return [x, w, *more]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    depthwise=st.booleans(), batch=st.integers(0, 2), size=st.integers(3, 9),
    channels=st.sampled_from((1, 3, 8, 16, 17, 24)), count=st.sampled_from((1, 2, 8, 16, 20, 40)),
    window=st.sampled_from((1, 2, 3, 5)), stride=st.integers(1, 2),
    padding=st.sampled_from(("SAME", "VALID", "EXPLICIT")),
    steps=st.lists(st.sampled_from(STEPS), max_size=4), seed=st.integers(0, 99),
)  # fmt: skip
def test_as_numpy(
    depthwise: bool, batch: int, size: int, channels: int, count: int, window: int, stride: int,
    padding: str, steps: list[str], seed: int,
) -> None:  # fmt: skip
    attrs = attributes(depthwise, stride, padding, steps)
    size = max(size, window)
    given_arrays = arrays(
        np.random.default_rng(seed), (batch, size, size + 1, channels), window,
        min(count, 2) if depthwise else count, attrs,
    )  # fmt: skip
    (expected,) = run_op(FUSED_CONVOLUTION, *given_arrays, **attrs)
    (found,) = run_native(FUSED_CONVOLUTION, *given_arrays, **attrs)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


FORMULAS: dict[str, Any] = {
    "PRelu": lambda x, a: np.where(x > 0, x, a * x),
    "Swish": lambda x, _: x / (1 + np.exp(-x)),
    "HardSwish": lambda x, _: 0.75 * x * np.clip(x + 3, 0, 6) / 6,
    "Mul": lambda x, a: x * a,
}


@pytest.mark.parametrize("run", [run_op, run_native], ids=["numpy", "native"])
@pytest.mark.parametrize("step", FORMULAS)
@pytest.mark.parametrize("depthwise", [False, True])
def test_each_step_is_its_formula(run: Any, step: str, depthwise: bool) -> None:
    """Over all sizes of numbers; what is not a number stays so."""
    values = [*np.linspace(-12, 12, 500), -1e30, -90.0, -1e-30, 0.0, 1e-30, 90.0, 1e30, np.nan]
    x = np.array(values, np.float32).reshape(1, 4, 127, 1)
    attrs = attributes(depthwise, 1, "VALID", [step])
    given_more: dict[str, list[Any]] = {
        "PRelu": [np.array([0.3], np.float32)],
        "Mul": [np.full_like(x, 1.7)],
    }
    more = given_more.get(step, [])
    with np.errstate(all="ignore"):
        expected = FORMULAS[step](x.astype(np.float64), more[0] if more else None)
    (found,) = run(FUSED_CONVOLUTION, x, np.ones((1, 1, 1, 1), np.float32), *more, **attrs)
    np.testing.assert_allclose(found, expected.astype(np.float32), rtol=2e-5, atol=1e-30)


@pytest.mark.parametrize("run", [run_op, run_native], ids=["numpy", "native"])
@pytest.mark.parametrize("step", ["BiasAdd", "PRelu", "Add", "Mul"])
def test_what_does_not_fit_is_refused(run: Any, step: str) -> None:
    x, w = np.zeros((1, 4, 4, 2), np.float32), np.zeros((1, 1, 2, 3), np.float32)
    attrs = attributes(False, 1, "VALID", [step])
    with pytest.raises(Exception, match=r"channel|shape|broadcast"):
        run(FUSED_CONVOLUTION, x, w, np.zeros((5,), np.float32), **attrs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_floats_of_16_bits(dtype: str) -> None:
    kind = as_dtype(dtype)
    attrs = attributes(False, 1, "SAME", ["BiasAdd", "Swish"]) | {"T": kind}
    given_arrays = [
        a.astype(kind.np) for a in arrays(np.random.default_rng(5), (1, 5, 5, 4), 3, 6, attrs)
    ]
    (expected,) = run_op(FUSED_CONVOLUTION, *given_arrays, **attrs)
    (found,) = run_native(FUSED_CONVOLUTION, *given_arrays, **attrs)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(
        found.astype(np.float32), expected.astype(np.float32), rtol=0.05, atol=0.05
    )


@pytest.mark.parametrize("run", [run_op, run_native], ids=["numpy", "native"])
@pytest.mark.parametrize("depthwise", [False, True])
@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("channels", [1, 17])
@pytest.mark.parametrize("steps", [["Swish"], ["BiasAdd", "Swish"], ["Elu", "Swish"]], ids=str)
def test_swish_of_infinities(
    run: Any, steps: list[str], channels: int, window: int, depthwise: bool
) -> None:
    """``-inf * sigmoid(-inf)`` is no number, as in TensorFlow, with oneDNN and without."""
    attrs = attributes(depthwise, 1, "SAME", steps)
    x = np.zeros((5, 4, 4, channels), np.float32)
    x[:, 1, 2, 0] = [-np.inf, np.inf, np.nan, -1e38, -100]
    count = 1 if depthwise else channels
    w = np.zeros((window, window, channels, count), np.float32)
    w[window // 2, window // 2, 0, 0] = 1  # infinity times zero is none, elsewhere
    bias = [np.zeros(channels, np.float32)] if "BiasAdd" in steps else []
    (y,) = run(FUSED_CONVOLUTION, x, w, *bias, **attrs)
    found = y[:, 1, 2, 0]
    lowest = np.float32(-1) / (1 + np.exp(np.float32(1))) if "Elu" in steps else np.nan
    np.testing.assert_allclose(found[:3], [lowest, np.inf, np.nan], rtol=1e-5)
    np.testing.assert_allclose(found[3:], -1 / (1 + np.e) if "Elu" in steps else 0, rtol=1e-5)
