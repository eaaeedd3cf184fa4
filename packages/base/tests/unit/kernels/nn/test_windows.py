"""Sliding windows: whichever way a kernel takes through them, the answer is the same."""

from typing import Any

import numpy as np
import pytest

from drystone_base.executor.testing import run_op

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides", [1, 2])
def test_depthwise_of_many_channels_is_that_of_few_side_by_side(padding: str, strides: int) -> None:
    x = RNG.normal(size=(2, 7, 9, 96)).astype(np.float32)
    filters = RNG.normal(size=(3, 2, 96, 1)).astype(np.float32)
    options: dict[str, Any] = {"strides": [1, strides, strides, 1], "padding": padding}
    (whole,) = run_op("DepthwiseConv2dNative", x, filters, **options)
    parts = [
        run_op("DepthwiseConv2dNative", x[..., cut], filters[:, :, cut], **options)[0]
        for cut in (slice(0, 48), slice(48, 96))
    ]
    np.testing.assert_allclose(whole, np.concatenate(parts, -1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [2, 5, 8])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_average_of_windows_small_and_large(size: int, padding: str) -> None:
    x = RNG.normal(size=(2, 8, 8, 3)).astype(np.float32)
    (got,) = run_op("AvgPool", x, ksize=[1, size, size, 1], strides=[1, 3, 3, 1], padding=padding)
    before = max((got.shape[1] - 1) * 3 + size - 8, 0) // 2 if padding == "SAME" else 0
    for row, column in np.ndindex(*got.shape[1:3]):
        top, left = row * 3 - before, column * 3 - before
        held = x[:, max(top, 0) : top + size, max(left, 0) : left + size]
        np.testing.assert_allclose(got[:, row, column], held.mean((1, 2)), rtol=1e-5, atol=1e-6)
