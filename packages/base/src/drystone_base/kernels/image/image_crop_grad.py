"""Gradients of CropAndResize with respect to the image and the boxes.

Source: TensorFlow ops CropAndResizeGradImage, CropAndResizeGradBoxes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.image.image_crop import crop_axis

__all__: list[str] = []


@dataclass(frozen=True)
class _Axis:
    """Along one axis ``[boxes, out]``: pixels on both sides, the way between, what is inside."""

    low: Array
    high: Array
    share: Array
    nearest: Array
    inside: Array


def _axis(first: Array, last: Array, size: int, out: int) -> _Axis:
    at = crop_axis(first, last, size, out)
    inside = (at >= 0) & (at <= size - 1)
    at = np.where(inside, at, 0)
    low, high = np.floor(at).astype(np.int64), np.ceil(at).astype(np.int64)
    nearest = np.floor(at + np.float32(0.5)).astype(np.int64)
    return _Axis(low, high, (at - low).astype(np.float32), nearest, inside)


def _check(
    call: Call, grads: Array, boxes: Array, index: Array, image: tuple[int, ...]
) -> tuple[_Axis, _Axis]:
    """Where the output pixels of every box lie, along rows and along columns."""
    call.require(
        grads.ndim == 4 and min(grads.shape[1:3], default=0) > 0,
        "grads must be crops that are not empty",
        found=list(grads.shape),
        needed="[boxes, h, w, C]",
    )
    empty = boxes.size == 0 and index.size == 0
    call.require(
        empty or (boxes.ndim == 2 and boxes.shape[1] == 4 and index.shape == boxes.shape[:1]),
        "boxes must be [boxes, 4] and box_ind [boxes]",
        found=f"{list(boxes.shape)} and {list(index.shape)}",
    )
    call.require(
        grads.shape[0] == index.size and grads.shape[3] == image[3] and min(image[1:3]) > 0,
        "grads must be one crop a box, with the channels of an image that is not empty",
        found=f"grads {list(grads.shape)}, {index.size} boxes, image {list(image)}",
    )
    call.require(
        index.size == 0 or (index.min() >= 0 and index.max() < image[0]),
        "box_ind must name images of the batch",
        found=index.tolist(),
        needed=f"0 to {image[0] - 1}",
        status="OUT_OF_RANGE",
    )
    flat = boxes.reshape(-1, 4)
    return (
        _axis(flat[:, 0], flat[:, 2], image[1], grads.shape[1]),
        _axis(flat[:, 1], flat[:, 3], image[2], grads.shape[2]),
    )


@kernel("CropAndResizeGradImage")
@quiet
def crop_and_resize_grad_image(
    call: Call, grads: Array, boxes: Array, index: Array, size: Array
) -> Array:
    """Gradients shared among the pixels read, ``[N, H, W, C]`` as ``image_size`` says."""
    call.require(size.shape == (4,), "image_size must be four numbers", found=list(size.shape))
    dtype = call.attrs["T"].np
    dims = check_size(call, size.tolist(), dtype)
    y, x = _check(call, grads, boxes, index, dims)
    out = np.zeros(dims, np.float64 if dtype == np.float64 else np.float32)
    given = np.where((y.inside[:, :, None] & x.inside[:, None])[..., None], grads, 0)
    n = index.reshape(-1)[:, None, None]
    if call.attrs["method"] == "nearest":
        np.add.at(out, (n, y.nearest[:, :, None], x.nearest[:, None]), given)
        return out.astype(dtype)
    down, right = y.share[:, :, None, None], x.share[:, None, :, None]
    for row, part in ((y.low, (1 - down) * given), (y.high, down * given)):
        for column, piece in ((x.low, (1 - right) * part), (x.high, right * part)):
            np.add.at(out, (n, row[:, :, None], column[:, None]), piece)
    return out.astype(dtype)


@kernel("CropAndResizeGradBoxes")
@quiet
def crop_and_resize_grad_boxes(
    call: Call, grads: Array, image: Array, boxes: Array, index: Array
) -> Array:
    """How the corners of each box move its crop: ``[boxes, 4]`` float32."""
    call.require(image.ndim == 4, "image must have rank 4", found=list(image.shape))
    y, x = _check(call, grads, boxes, index, image.shape)
    if not index.size:
        return np.zeros((0, 4), np.float32)
    n = index[:, None, None]
    corners = [
        image[n, row[:, :, None], column[:, None]].astype(np.float32)
        for row in (y.low, y.high)
        for column in (x.low, x.high)
    ]
    top_left, top_right, bottom_left, bottom_right = corners
    down, right = y.share[:, :, None, None], x.share[:, None, :, None]
    one = np.float32(1)
    by_row = (one - right) * (bottom_left - top_left) + right * (bottom_right - top_right)
    by_column = (one - down) * (top_right - top_left) + down * (bottom_right - bottom_left)
    inside = (y.inside[:, :, None] & x.inside[:, None])[..., None]
    given = np.where(inside, grads, 0)
    rows, columns = (given * by_row).sum(3), (given * by_column).sum(3)
    out = np.zeros((index.size, 4), np.float32)
    for k, moved, axis in ((0, rows, 1), (1, columns, 2)):
        count, last = grads.shape[axis], np.float32(image.shape[axis] - 1)
        steps = np.arange(count, dtype=np.float32) / np.float32(max(count - 1, 1))
        if count == 1:
            steps = np.full(1, 0.5, np.float32)
        along = moved.sum(2 if axis == 1 else 1)
        out[:, k] = (along * (one - steps)).sum(1) * last
        out[:, k + 2] = (along * steps).sum(1) * last
    return out
