"""Fused quantized convolutions: held against the convolution of the floats that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import run_op

RNG = np.random.default_rng(0)
X = RNG.integers(0, 256, (2, 5, 5, 3)).astype(np.uint8)
FILTERS = RNG.integers(-127, 128, (2, 2, 3, 4)).astype(np.int8)
BIAS = RNG.normal(size=4).astype(np.float32)
LOW, HIGH = np.array([-2, -1, -0.5, -1], np.float32), np.array([1, 1, 0.25, 3], np.float32)
SHAPE: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "VALID"}
GIVEN = [np.float32(0), np.float32(6), LOW, HIGH]


def real() -> np.ndarray[Any, Any]:
    """The convolution of the floats, with the bias."""
    weights = FILTERS / 127 * np.maximum(np.abs(LOW), np.abs(HIGH))
    image = (X / 255 * 6).astype(np.float32)
    out = run_op("Conv2D", image, weights.astype(np.float32), data_format="NHWC", **SHAPE)[0]
    return np.asarray(out + BIAS)


def types(out: str, **more: str) -> dict[str, str]:
    """The type attributes."""
    return {"Tinput": "quint8", "Tfilter": "qint8", "out_type": out, **more}


def test_bias_and_relu_in_eight_bits() -> None:
    end = [np.float32(0), np.float32(real().max())]
    out, low, high = run_op(
        "QuantizedConv2DWithBiasAndReluAndRequantize", X, FILTERS, BIAS, *GIVEN, *end,
        **SHAPE, **types("quint8", Tbias="float32"),
    )  # fmt: skip
    assert (low, high) == (end[0], end[1])
    np.testing.assert_allclose(out / 255 * high, np.maximum(real(), 0), atol=high / 500)


@pytest.mark.parametrize("signed", [False, True])
def test_the_sum_with_another_tensor(signed: bool) -> None:
    op = "QuantizedConv2DWithBiasSumAndReluAndRequantize"
    op = "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize" if signed else op
    kind = "qint8" if signed else "quint8"
    other = RNG.integers(-100 if signed else 0, 100, real().shape).astype(kind[1:])
    value = other / (127 if signed else 255) * 4.0
    end = [np.float32(0), np.float32((real() + value).max())]
    ends = [*GIVEN, *end, other, np.float32(-4 if signed else 0), np.float32(4)]
    out, _, high = run_op(
        op, X, FILTERS, BIAS, *ends, **SHAPE,
        **types("quint8", Tbias="float32", Tsummand=kind),
    )  # fmt: skip
    np.testing.assert_allclose(out / 255 * high, np.maximum(real() + value, 0), atol=high / 400)
    out, _, high = run_op(
        "QuantizedConv2DWithBiasSumAndRelu", X, FILTERS, BIAS, *GIVEN, value.astype(np.float32),
        **SHAPE, **types("qint32"),
    )  # fmt: skip
    unit = 6 / 255 * np.maximum(np.abs(LOW), np.abs(HIGH)) / 127
    np.testing.assert_allclose(out * unit, np.maximum(real() + value, 0), atol=1e-3)


def test_refusals_say_what_was_found() -> None:
    short = [np.float32(0), np.float32(6), LOW[:3], HIGH[:3]]
    with pytest.raises(KernelError, match=r"found: \[3\] and \[3\]\n  needed: \[\] or \[4\]"):
        run_op("QuantizedConv2DPerChannel", X, FILTERS, *short, **SHAPE, **types("qint32"))
    with pytest.raises(KernelError, match="one bias for each filter"):
        run_op("QuantizedConv2DWithBias", X, FILTERS, BIAS[:2], *GIVEN, **SHAPE, **types("qint32"))


@pytest.mark.parametrize(("mode", "low"), [("MIN_FIRST", -1.5), ("SCALED", 0.0)])
def test_a_product_with_bias(mode: str, low: float) -> None:
    a = RNG.integers(0, 256, (3, 6)).astype(np.uint8)
    b = RNG.integers(-127, 128, (6, 4)).astype(np.int8)
    want = (low + a / 255 * (6 - low)) @ (b / 127 * 2) + BIAS
    ends = [np.float32(low), np.float32(6), np.float32(-2), np.float32(2)]
    end = [np.float32(0), np.float32(np.abs(want).max())]
    attrs = {"T1": "quint8", "T2": "qint8", "Tbias": "float32", "input_quant_mode": mode}
    (out,) = run_op(
        "QuantizedMatMulWithBiasAndDequantize", a, b, BIAS, *ends, *end, **attrs,
        Toutput="float32",
    )  # fmt: skip
    np.testing.assert_allclose(out, want, atol=1e-4)
    out, _, high = run_op(
        "QuantizedMatMulWithBiasAndReluAndRequantize", a, b, BIAS, *ends, *end, **attrs,
        Toutput="quint8",
    )  # fmt: skip
    np.testing.assert_allclose(out / 255 * high, np.maximum(want, 0), atol=high / 500)
    with pytest.raises(KernelError, match="the sides of a product and the bias must fit"):
        run_op("QuantizedMatMulWithBias", a, b, BIAS[:2], *ends, **attrs, Toutput="qint32")
