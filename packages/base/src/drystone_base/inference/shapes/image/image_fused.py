"""Shapes of images resized, padded and convolved in one node, and of the norm of old graphs."""

from __future__ import annotations

import numpy as np

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.nn._windows import slid

__all__: list[str] = []


@shape("FusedPadConv2D", "FusedResizeAndPadConv2D")
def fused_pad_conv(c: ShapeCall) -> list[Shape]:
    """``[N, H, W, C]`` [resized,] padded and convolved."""
    resizes = c.op == "FusedResizeAndPadConv2D"
    batch, rows, columns, channels = c.with_rank(c.shape(0), 4)
    if resizes:
        c.with_rank(c.shape(1), 1)
        rows, columns = c.with_rank(c.value_as_shape(1), 2)
    at = 2 if resizes else 1
    pairs, two = c.with_rank(c.shape(at), 2)
    c.merge_dim(pairs, 4)
    c.merge_dim(two, 2)
    paddings = c.values[at]
    known = isinstance(paddings, np.ndarray) and paddings.shape == (4, 2)
    spare = [int(v) for v in paddings.sum(1)] if known else None
    padded = [UNKNOWN if spare is None or d < 0 else d + spare[k + 1]
              for k, d in enumerate((rows, columns))]  # fmt: skip
    filters = c.with_rank(c.shape(at + 1), 4)
    c.merge_dim(channels, filters[2])
    out = slid(c, padded, filters[:2], c.attrs["strides"], data_format="NHWC")
    return [(batch, *out, filters[3])]


@shape("BatchNormWithGlobalNormalizationGrad")
def batch_norm_global_grad(c: ShapeCall) -> list[Shape]:
    """The input's shape for its gradient; vectors of its channels for the others."""
    dims = c.with_rank(c.merge(c.with_rank(c.shape(0), 4), c.shape(4)), 4)
    channels = dims[3]
    for k in (1, 2, 3):
        channels = c.merge_dim(channels, c.with_rank(c.shape(k), 1)[0])
    return [(*dims[:3], channels), *[(channels,)] * 4]
