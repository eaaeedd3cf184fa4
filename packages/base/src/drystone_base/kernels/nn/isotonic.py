"""Isotonic regression: the nearest sequence that does not rise.

Source: TensorFlow op IsotonicRegression; the pool-adjacent-violators algorithm (Kruskal, 1964).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet


def _pools(row: Array) -> list[tuple[int, Any]]:
    """Neighbours put together until no mean is above the one before: sizes and means."""
    pools: list[tuple[int, Any, Any]] = []
    for value in row:
        size, total, mean = 1, value, value
        while pools and mean > pools[-1][2]:
            before = pools.pop()
            size, total = size + before[0], before[1] + total
            mean = total / row.dtype.type(size)
        pools.append((size, total, mean))
    return [(size, mean) for size, _, mean in pools]


@kernel("IsotonicRegression")
@quiet
def isotonic_regression(call: Call, x: Array) -> tuple[Array, Array]:
    """The falling sequence nearest to each row by squares, and which pool each value is in."""
    dtype = call.attrs["output_dtype"].np
    rows = x.astype(dtype).reshape(-1, x.shape[-1] if x.ndim else 1) if x.size else x
    fitted, segments = np.zeros(rows.shape, dtype), np.zeros(rows.shape, np.int32)
    for k in range(len(rows) if x.size else 0):
        pools = _pools(rows[k])
        sizes = [size for size, _ in pools]
        fitted[k] = np.repeat(np.array([mean for _, mean in pools], dtype), sizes)
        segments[k] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return fitted.reshape(x.shape), segments.reshape(x.shape)
