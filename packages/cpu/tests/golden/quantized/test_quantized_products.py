"""Products of quantized tensors by oneDNN: bit for bit as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import assert_agrees
from hypothesis import given, settings
from hypothesis import strategies as st
from native_ops import needs_onednn

from drystone_base.core.dtypes import as_dtype

pytestmark = needs_onednn()

QUINT8, QINT8, QINT32 = (as_dtype(name) for name in ("quint8", "qint8", "qint32"))
ENDS = st.tuples(*[st.floats(-8, 8, width=32)] * 4)
"""Of two ranges; equal ones and such that lie beside zero are among them."""


def spans(ends: tuple[float, ...]) -> list[np.float32]:
    """The ends of two ranges, each from the lower to the higher one."""
    return [np.float32(v) for pair in (ends[:2], ends[2:]) for v in sorted(pair)]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    rows=st.integers(0, 40), inner=st.sampled_from((0, 1, 3, 64, 130)), columns=st.integers(0, 40),
    flip_a=st.booleans(), flip_b=st.booleans(), signed=st.booleans(), ends=ENDS,
    seed=st.integers(0, 99),
)  # fmt: skip
def test_matrices(
    rows: int, inner: int, columns: int, flip_a: bool, flip_b: bool, signed: bool,
    ends: tuple[float, ...], seed: int,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    kind = QINT8 if signed else QUINT8
    a = rng.integers(0, 256, (inner, rows) if flip_a else (rows, inner)).astype(np.uint8)
    b = rng.integers(0, 256, (columns, inner) if flip_b else (inner, columns)).astype(np.uint8)
    types: dict[str, Any] = {"T1": QUINT8, "T2": kind, "Toutput": QINT32}
    assert_agrees(
        "QuantizedMatMul", a, b.view(kind.np), *spans(ends), **types, transpose_a=flip_a,
        transpose_b=flip_b,
    )  # fmt: skip


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    batch=st.integers(0, 2), size=st.tuples(*[st.integers(2, 9)] * 2), channels=st.integers(1, 20),
    count=st.sampled_from((1, 2, 16, 33)), window=st.tuples(*[st.integers(1, 4)] * 2),
    stride=st.integers(1, 3), dilation=st.integers(1, 2), same=st.booleans(), ends=ENDS,
    seed=st.integers(0, 99),
)  # fmt: skip
def test_images(
    batch: int, size: tuple[int, int], channels: int, count: int, window: tuple[int, int],
    stride: int, dilation: int, same: bool, ends: tuple[float, ...], seed: int,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (batch, *size, channels)).astype(np.uint8)
    filters = rng.integers(0, 256, (*window, channels, count)).astype(np.uint8)
    types: dict[str, Any] = {"Tinput": QUINT8, "Tfilter": QUINT8, "out_type": QINT32}
    dilation = dilation if stride == 1 else 1
    assert_agrees(
        "QuantizedConv2D", x, filters, *spans(ends), **types, strides=[1, stride, stride, 1],
        dilations=[1, dilation, dilation, 1], padding="SAME" if same else "VALID",
    )  # fmt: skip


INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    "span", [(-INF, 1), (0, INF), (-INF, INF), (-3e38, 3e38), (-1e30, 1), (NAN, 1), (0, NAN)]
)
def test_ranges_without_an_end(span: tuple[float, float]) -> None:
    """TensorFlow 2.21 answers them with the least integer as the one that stands for 0."""
    rng = np.random.default_rng(8)
    a, b = (rng.integers(0, 256, (5, 5)).astype(np.uint8) for _ in range(2))
    x = rng.integers(0, 256, (1, 5, 5, 2)).astype(np.uint8)
    w = rng.integers(0, 256, (3, 3, 2, 3)).astype(np.uint8)
    plain = (np.float32(-1), np.float32(1))
    odd = (np.float32(span[0]), np.float32(span[1]))
    for ends in ((*odd, *plain), (*plain, *odd)):
        types: dict[str, Any] = {"Tinput": QUINT8, "Tfilter": QUINT8, "out_type": QINT32}
        assert_agrees("QuantizedConv2D", x, w, *ends, **types, strides=[1, 1, 1, 1], padding="SAME")
        if np.isnan(span).any():  # TensorFlow's product refuses them, its convolution does not
            continue
        for kind in (QUINT8, QINT8):
            types = {"T1": QUINT8, "T2": kind, "Toutput": QINT32}
            assert_agrees("QuantizedMatMul", a, b.view(kind.np), *ends, **types)


def test_sums_wrap() -> None:
    """Modulo 2^32, as NumPy's do: zero lies far outside of what eight bits hold."""
    a, b = np.full((3, 500), 255, np.uint8), np.full((500, 2), 255, np.uint8)
    span = [np.float32(v) for v in (10, 10.001)] * 2
    types: dict[str, Any] = {"T1": QUINT8, "T2": QUINT8, "Toutput": QINT32}
    assert_agrees("QuantizedMatMul", a, b, *span, **types)
