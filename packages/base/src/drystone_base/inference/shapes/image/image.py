"""Shapes of image resizing."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea",
       "ResizeNearestNeighborGrad", "ScaleAndTranslate")  # fmt: skip
def resized(c: ShapeCall) -> list[Shape]:
    """``[N, H, W, C] -> [N, h, w, C]``."""
    batch, _, _, channels = c.with_rank(c.shape(0), 4)
    c.with_rank(c.shape(1), 1)
    rows, columns = c.with_rank(c.value_as_shape(1), 2)
    return [(batch, rows, columns, channels)]


@shape("ResizeBilinearGrad", "ResizeBicubicGrad", "ScaleAndTranslateGrad")
def resized_grad(c: ShapeCall) -> list[Shape]:
    """The original image's shape; the gradient has its batch and channels."""
    batch, _, _, channels = c.with_rank(c.shape(0), 4)
    first, rows, columns, last = c.with_rank(c.shape(1), 4)
    return [(c.merge_dim(batch, first), rows, columns, c.merge_dim(channels, last))]
