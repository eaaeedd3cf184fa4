"""Assertions of a graph: what a failed one says is what the kernel in Python says."""

from __future__ import annotations

from typing import Any

import native_ops
import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.kernels.string._summary_text import flat_text

DATA: tuple[Any, ...] = (
    np.array(b'it\'s a "text"\n\x01\\', object),
    np.array([[1, 2], [3, 4], [5, 6]]),
    np.array([0.1, 1e30, -0.0, np.nan, np.inf, 1 / 3], np.float32),
    np.array([0.1, 1 / 3, 1e-310]),
    np.array([[[True], [False]]]),
    np.zeros((2, 0), np.int8),
    np.array([1.5, 65504], np.float16),
)


@pytest.mark.parametrize("limit", [-1, 0, 1, 3, 5, 100])
def test_data_are_shown(limit: int) -> None:
    native_ops.run_native("Assert", np.array(True), *DATA, summarize=limit)
    with pytest.raises(KernelError) as caught:
        native_ops.run_native("Assert", np.array(False), *DATA, summarize=limit)
    shown = " ".join(f"[{flat_text(x, limit)}]" for x in DATA)
    assert f"assertion failed: {shown}" in str(caught.value)


def test_numbers_that_are_not_finite() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        for bad, found in ((np.nan, "NaN"), (-np.inf, "Inf")):
            x = np.array([1, bad], dtype)
            with pytest.raises(KernelError, match=f"weights: .* holds {found}"):
                native_ops.run_native("CheckNumerics", x, message="weights")
