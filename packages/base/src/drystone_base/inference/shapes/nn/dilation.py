"""Shapes of grayscale dilation and its gradients."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape
from drystone_base.inference.shapes.nn._windows import slid

__all__: list[str] = []


@shape("Dilation2D")
def dilation(c: ShapeCall) -> list[Shape]:
    """``[N, H, W, C] -> [N, h, w, C]``."""
    batch, *spatial, channels = c.with_rank(c.shape(0), 4)
    *size, depth = c.with_rank(c.shape(1), 3)
    out = slid(c, spatial, size, c.attrs["strides"], data_format="NHWC")
    return [(batch, *out, c.merge_dim(channels, depth))]


@shape("Dilation2DBackpropInput")
def backprop_input(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.with_rank(c.shape(0), 4)]


@shape("Dilation2DBackpropFilter")
def backprop_filter(c: ShapeCall) -> list[Shape]:
    """The filter's shape."""
    return [c.with_rank(c.shape(1), 3)]
