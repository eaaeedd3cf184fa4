"""Parts of images: CropAndResize and ExtractImagePatches."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.nn._windows import window_of

__all__ = ["check_boxes", "crop_axis"]


def check_boxes(call: Call, boxes: Array) -> None:
    """Refuse boxes of which a corner is NaN or infinite."""
    call.require(
        bool(np.isfinite(boxes).all()),
        "Boxes contains at least one element that is not finite",
        found=f"{int((~np.isfinite(boxes)).sum())} of {boxes.size} numbers",
        needed="finite numbers",
    )


def crop_axis(low: Array, high: Array, size: int, out: int) -> Array:
    """Where each output pixel of each box lies along one axis: float32 ``[boxes, out]``."""
    last = np.float32(size - 1)
    if out == 1:
        return np.asarray(np.float32(0.5) * (low + high) * last)[:, None]
    step = (high - low) * last / np.float32(out - 1)
    return np.asarray((low * last)[:, None] + np.arange(out, dtype=np.float32) * step[:, None])


@kernel("CropAndResize")
@quiet
def crop_and_resize(call: Call, image: Array, boxes: Array, index: Array, size: Array) -> Array:
    """Crops ``[boxes, h, w, C]`` float32 out of ``[N, H, W, C]``; TF ``CropAndResize``.

    Boxes are ``[y1, x1, y2, x2]`` in units of the image; outside it is ``extrapolation_value``.
    """
    rows, columns = _check_crop(call, image, boxes, index, size)
    if not len(boxes):
        return np.zeros((0, rows, columns, image.shape[3]), np.float32)
    height, width = image.shape[1:3]
    y = crop_axis(boxes[:, 0], boxes[:, 2], height, rows)
    x = crop_axis(boxes[:, 1], boxes[:, 3], width, columns)
    inside_y, inside_x = (y >= 0) & (y <= height - 1), (x >= 0) & (x <= width - 1)
    y, x = np.where(inside_y, y, 0), np.where(inside_x, x, 0)
    at = index[:, None, None]
    if call.attrs["method"] == "nearest":
        row, column = (np.floor(v + np.float32(0.5)).astype(np.int64) for v in (y, x))
        out = image[at, row[:, :, None], column[:, None, :]].astype(np.float32)
    else:
        out = _bilinear(image, at, y[:, :, None], x[:, None, :])
    inside = inside_y[:, :, None] & inside_x[:, None, :]
    outside = np.float32(call.attrs["extrapolation_value"])
    return np.where(inside[..., None], out, outside)


def _bilinear(image: Array, at: Array, y: Array, x: Array) -> Array:
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    bottom, right = np.ceil(y).astype(np.int64), np.ceil(x).astype(np.int64)
    part_y, part_x = (y - top).astype("f4")[..., None], (x - left).astype("f4")[..., None]

    def pixel(row: Array, column: Array) -> Array:
        return np.asarray(image[at, row, column]).astype(np.float32)

    upper = pixel(top, left) + (pixel(top, right) - pixel(top, left)) * part_x
    lower = pixel(bottom, left) + (pixel(bottom, right) - pixel(bottom, left)) * part_x
    return np.asarray(upper + (lower - upper) * part_y)


def _check_crop(
    call: Call, image: Array, boxes: Array, index: Array, size: Array
) -> tuple[int, int]:
    call.require(
        image.ndim == 4 and image.shape[1] > 0 and image.shape[2] > 0,
        "image must be a batch of images that are not empty",
        found=list(image.shape),
        needed="[N, H, W, C]",
    )
    fits = boxes.ndim == 2 and boxes.shape[1] == 4 and index.shape == boxes.shape[:1]
    call.require(
        fits and size.shape == (2,),
        "boxes must be [boxes, 4], box_ind [boxes] and crop_size [2]",
        found=f"{list(boxes.shape)}, {list(index.shape)}, {list(size.shape)}",
        needed="one index per box",
    )
    rows, columns = int(size[0]), int(size[1])
    call.require(
        rows > 0 and columns > 0, "crop dimensions must be positive",
        found=[rows, columns], needed="1 or more",
    )  # fmt: skip
    call.require(
        index.size == 0 or (index.min() >= 0 and index.max() < image.shape[0]),
        "box_ind must name images of the batch",
        found=index.tolist(),
        needed=f"0 to {image.shape[0] - 1}",
        status="OUT_OF_RANGE",
    )
    check_boxes(call, boxes)
    check_size(call, (len(index), rows, columns, image.shape[3]), np.dtype(np.float32))
    return rows, columns


def _without_ends(call: Call, images: Array) -> Array:
    """Volumes cut to what the windows of SAME padding span, where that is less than there is.

    TensorFlow centres such windows, for this op alone.
    """
    if call.attrs["padding"] != "SAME":
        return images
    cuts = [slice(None)]
    rows = zip(images.shape[1:-1], call.attrs["ksizes"][1:-1], call.attrs["strides"][1:-1],
               strict=True)  # fmt: skip
    for size, window, stride in rows:
        spare = max(size - (max(-(-size // max(stride, 1)) - 1, 0) * stride + window), 0)
        cuts.append(slice(spare // 2, size - (spare - spare // 2)))
    return images[tuple(cuts)]


@kernel("ExtractImagePatches", "ExtractVolumePatches")
def extract_patches(call: Call, images: Array) -> Array:
    """``[N, *spatial, C] -> [N, *out, window * C]``; TF ``Extract(Image|Volume)Patches``."""
    sizes = call.attrs["ksizes"]
    rank = 5 if call.op == "ExtractVolumePatches" else 4
    call.require(
        images.ndim == len(sizes) == rank and sizes[0] == sizes[-1] == 1,
        "images must have one dimension per entry of ksizes, which is 1 for batch and channels",
        found=f"{list(images.shape)}, ksizes {list(sizes)}",
        needed=f"rank {rank}",
    )
    if rank == 5:
        images = _without_ends(call, images)
    window = window_of(call, images.shape[1:-1], sizes[1:-1], data_format="NHWC")
    shape = (images.shape[0], *window.out, window.taps * images.shape[-1])
    check_size(call, shape, images.dtype)
    return window.view(window.pad(images)).reshape(shape)
