"""Pooling of many channels, which go through several registers at once, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from native_ops import run_native

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import run_op

CHANNELS = (15, 16, 63, 64, 65, 96, 113, 192, 200)
"""Around what one register of any processor holds, what four do, and sums of those."""


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "float16", "uint8"])
@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_as_numpy(kind: str, channels: int, padding: str) -> None:
    dtype = as_dtype(kind)
    rng = np.random.default_rng(channels)
    x = rng.integers(0, 9, (2, 5, 6, channels)).astype(dtype.np)  # with ties
    if kind != "uint8":
        x[rng.random(x.shape) < 0.02] = np.nan
    for stride in (1, 2):
        attrs: dict[str, Any] = {
            "T": dtype, "ksize": [1, 3, 3, 1], "strides": [1, stride, stride, 1],
            "padding": padding,
        }  # fmt: skip
        (found,) = run_native("MaxPool", x, **attrs)
        (expected,) = run_op("MaxPool", x, **attrs)
        np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))
        if kind == "uint8":
            continue
        (found,) = run_native("AvgPool", x, **attrs)
        (expected,) = run_op("AvgPool", x, **attrs)
        slack = 2 * float(
            2.0 ** -{"float32": 22, "float64": 50, "bfloat16": 8, "float16": 10}[kind]
        )
        np.testing.assert_allclose(
            found.astype(np.float64), expected.astype(np.float64), rtol=slack, atol=slack
        )
