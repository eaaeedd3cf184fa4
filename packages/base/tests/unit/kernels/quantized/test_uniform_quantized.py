"""Uniform quantization: there and back, a convolution as a dot, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import run_op

LIMITS = {"quantization_min_val": -128, "quantization_max_val": 127}
WIDE = {
    f"{side}_quantization_{end}_val": value
    for side in ("lhs", "rhs", "output")
    for end, value in (("min", -(2**31)), ("max", 2**31 - 1))
}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-90, 90), min_size=1, max_size=9), st.integers(-30, 30))
def test_there_and_back_within_half_a_step(tenths: list[int], zero: int) -> None:
    x = np.array(tenths, np.float32) / 10
    ends = [np.float32(0.1), np.int32(zero)]
    whole = run_op("UniformQuantize", x, *ends, Tin="float32", Tout="qint8", **LIMITS)[0]
    back = run_op("UniformDequantize", whole, *ends, Tin="qint8", Tout="float32", **LIMITS)[0]
    inside = np.abs(np.rint(x / 0.1) + zero) < 127
    np.testing.assert_allclose(back[inside], x[inside], atol=0.0501)


def test_a_convolution_of_single_pixels_is_a_dot() -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-128, 128, s).astype(np.int8) for s in ((3, 4), (4, 5)))
    rest = [np.float32(0.5), np.int32(3), np.float32(0.25), np.int32(-2)]
    rest += [np.float32(0.1), np.int32(9)]
    types = {"Tin": "qint8", "Tout": "qint32", **WIDE}
    dot = run_op("UniformQuantizedDot", x, y, *rest, **types)[0]
    pixels, kernel = x.reshape(3, 4, 1), y.T.reshape(5, 4, 1).copy()
    out = run_op("UniformQuantizedConvolution", pixels, kernel, *rest, padding="VALID", **types)[0]
    assert out.shape == (3, 5, 1)
    assert out.reshape(3, 5).tolist() == dot.tolist()


def test_refusals_say_what_was_found() -> None:
    x, one, zero = np.zeros((2, 3), np.float32), np.float32(1), np.int32(0)
    kinds = {"Tin": "float32", "Tout": "qint8", **LIMITS}
    with pytest.raises(KernelError, match=r"found: 5\n  needed: -1 to 1"):
        run_op("UniformQuantize", x, one, zero, **kinds, quantization_axis=5)
    with pytest.raises(KernelError, match=r"vectors along the axis\n  found: \[3\] and \[\]"):
        run_op("UniformQuantize", x, np.ones(3, np.float32), zero, **kinds)
    sides = {"Tin": "qint8", "Tout": "qint8", "input_quantization_axis": 0}
    limits = {f"{s}_{k}": v for s in ("input", "output") for k, v in LIMITS.items()}
    with pytest.raises(KernelError, match="quantized along the same axis"):
        run_op(
            "UniformRequantize", x.astype(np.int8), np.ones(2, np.float32), np.zeros(2, np.int32),
            np.ones(3, np.float32), np.zeros(3, np.int32), **sides, **limits,
            output_quantization_axis=1,
        )  # fmt: skip
