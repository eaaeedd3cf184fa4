"""Shapes of CropAndResize and ExtractImagePatches."""

from __future__ import annotations

import math

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.nn._windows import slid

__all__: list[str] = []


@shape("CropAndResize")
def crop_and_resize(c: ShapeCall) -> list[Shape]:
    """``[boxes, h, w, C]``."""
    channels = c.with_rank(c.shape(0), 4)[3]
    boxes, four = c.with_rank(c.shape(1), 2)
    c.merge_dim(four, 4)
    count = c.merge_dim(boxes, c.with_rank(c.shape(2), 1)[0])
    rows, columns = c.with_rank(c.value_as_shape(3), 2)
    return [(count, rows, columns, channels)]


@shape("ExtractImagePatches", "ExtractVolumePatches")
def extract_patches(c: ShapeCall) -> list[Shape]:
    """``[N, *out, window * C]``."""
    batch, *spatial, channels = c.with_rank(c.shape(0), len(c.attrs["ksizes"]))
    size = c.attrs["ksizes"][1:-1]
    out = slid(c, spatial, size, c.attrs["strides"], data_format="NHWC")
    depth = math.prod(size) * channels if channels >= 0 else UNKNOWN
    return [(batch, *out, depth)]
