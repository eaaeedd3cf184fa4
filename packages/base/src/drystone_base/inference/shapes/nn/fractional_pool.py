"""Shapes of pooling over windows of varying sizes."""

from __future__ import annotations

import math

import numpy as np

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape("FractionalMaxPool", "FractionalAvgPool")
def fractional_pool(c: ShapeCall) -> list[Shape]:
    """The input's dimensions by the ratios; an entry more than windows for each sequence.

    TensorFlow's function says one entry a window, which its kernels contradict.
    """
    dims, ratios = c.with_rank(c.shape(0), 4), c.attrs["pooling_ratio"]
    if len(ratios) != 4 or min(ratios) < 1:
        c.fail("pooling_ratio must be four numbers of 1 or more", found=list(ratios))
    out = [
        UNKNOWN if d < 0 else math.floor(np.float32(d) / np.float32(r))
        for d, r in zip(dims, ratios, strict=True)
    ]
    rows, columns = (UNKNOWN if d < 0 else d + 1 for d in out[1:3])
    return [tuple(out), (rows,), (columns,)]


@shape("FractionalMaxPoolGrad")
def fractional_max_pool_grad(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.with_rank(c.shape(0), 4)]


@shape("FractionalAvgPoolGrad")
def fractional_avg_pool_grad(c: ShapeCall) -> list[Shape]:
    """What the shape says, or rank 4."""
    known = c.value_as_shape(0)
    return [(UNKNOWN,) * 4 if known is None else c.with_rank(known, 4)]
