"""Layers over quantized tensors: held against the same layer over floats, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import run_op

U8 = {"T1": "quint8", "T2": "quint8", "Toutput": "qint32"}
ENDS = st.tuples(st.integers(-90, -1), st.integers(1, 90)).map(lambda v: (v[0] / 10, v[1] / 10))


def _real(x: np.ndarray[Any, Any], low: float, high: float) -> np.ndarray[Any, Any]:
    info = np.iinfo(x.dtype)
    return low + (x.astype(np.float64) - info.min) * (high - low) / (info.max - info.min)


@settings(max_examples=40, deadline=None)
@given(ENDS, ENDS, st.integers(0, 99))
def test_sums_and_products_stand_for_those_of_floats(
    a: tuple[float, float], b: tuple[float, float], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, 256, (3, 4)).astype(np.uint8) for _ in range(2))
    ends = [np.float32(v) for v in (*a, *b)]
    step = max(a[1] - a[0], b[1] - b[0]) / 255
    p, q = _real(x, *a), _real(y, *b)
    out, low, high = run_op("QuantizedAdd", x, y, *ends, **U8)
    np.testing.assert_allclose(_real(out, low, high), p + q, atol=2 * step)
    out, low, high = run_op("QuantizedMul", x, y, *ends, **U8)
    np.testing.assert_allclose(_real(out, low, high), p * q, atol=20 * step)
    out, low, high = run_op("QuantizedMatMul", x, y.T.copy(), *ends, **U8)
    np.testing.assert_allclose(_real(out, low, high), p @ q.T, atol=80 * step)


def test_a_range_that_is_no_scalar_or_turned_round() -> None:
    x, one = np.zeros(3, np.uint8), np.float32(1)
    with pytest.raises(KernelError, match=r"max must be larger than its min\n  found: 1.0 and 1.0"):
        run_op("QuantizedAdd", x, x, one, one, one, one, **U8)
    with pytest.raises(KernelError, match="a range's end must be a scalar"):
        run_op("QuantizedRelu", x, np.ones(2, np.float32), one, Tinput="quint8")
    with pytest.raises(KernelError, match="a signed output needs a range below 0"):
        run_op(
            "RequantizePerChannel", np.zeros((1, 1, 1, 1), np.int32), np.zeros(1, np.float32),
            np.ones(1, np.float32), np.float32(0), one, T="qint32", out_type="qint8",
        )  # fmt: skip


def test_resized_integers_lie_where_resized_floats_do() -> None:
    x = np.random.default_rng(0).integers(-(2**31), 2**31, (1, 3, 4, 2)).astype(np.int32)
    size, one = np.array([5, 7], np.int32), np.float32(1)
    got = run_op("QuantizedResizeBilinear", x, size, -one, one, T="qint32")[0]
    want = run_op("QuantizedResizeBilinear", x.astype("f4"), size, -one, one, T="float32")[0]
    np.testing.assert_allclose(got, want, rtol=0, atol=2**10)


def test_a_top_given_as_an_input_cuts_as_the_fixed_one_does() -> None:
    x = np.arange(256, dtype=np.uint8)
    ends = [np.float32(-3), np.float32(9)]
    kinds = {"Tinput": "quint8", "out_type": "quint8"}
    fixed = run_op("QuantizedRelu6", x, *ends, **kinds)
    given = run_op("QuantizedReluX", x, np.float32(6), *ends, **kinds)
    assert [v.tolist() for v in given] == [v.tolist() for v in fixed]
    step = 12 / 255  # 3 / step is 63.75, 9 / step is 191.25; halves go up
    assert given[0].min() == round(3 / step)
    assert given[0].max() == round(3 / step) + int(6 / step + 0.5)
