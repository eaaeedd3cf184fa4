"""Boxes drawn onto images, glimpses cut out of them, and the contrast of old graphs.

Source: TensorFlow ops DrawBoundingBoxes(V2), ExtractGlimpse(V2), AdjustContrast.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet

__all__: list[str] = []

_COLORS: Final = np.array(
    [[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1],
     [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]], np.float32,
)  # fmt: skip


def _colors(call: Call, depth: int, given: Array | None) -> Array:
    """The colours that boxes take in turn, ``[n, depth]``."""
    if given is not None:
        call.require(
            given.ndim == 2 and given.shape[1] >= depth,
            "colors must have as many channels as the images",
            found=list(given.shape),
            needed=f"[n, {depth}]",
        )
        if given.size:
            return given[:, :depth]
    table = _COLORS.copy()
    if depth == 1:
        table[:, 0] = 1
    return table[:, :depth]


@kernel("DrawBoundingBoxes", "DrawBoundingBoxesV2")
@quiet
def draw_bounding_boxes(
    call: Call, images: Array, boxes: Array, colors: Array | None = None
) -> Array:
    """``[N, H, W, 1, 3 or 4]`` with lines one pixel wide around ``boxes [N, n, 4]``."""
    call.require(
        images.ndim == 4 and boxes.ndim == 3 and len(images) == len(boxes) and boxes.shape[2] == 4,
        "images must be a batch, and boxes [batch, boxes, 4]",
        found=f"{list(images.shape)} and {list(boxes.shape)}",
        needed="[N, H, W, C] and [N, n, 4]",
    )
    depth = images.shape[3]
    call.require(depth in (1, 3, 4), "channels must be 1, 3 or 4", found=depth)
    table = _colors(call, depth, colors).astype(images.dtype)
    size = np.array(images.shape[1:3])
    scaled = boxes.astype(np.float32) * np.tile(size - 1, 2).astype(np.float32)
    # Beyond 64 bits, and for NaN, a corner is the least integer, as on x86: far above or left.
    corners = np.where(np.abs(scaled) < 2.0**63, scaled, -(2.0**63)).astype(np.int64)
    out = images.copy()
    for n, per_image in enumerate(corners):
        for k, corner in enumerate(per_image):
            _draw(out[n], corner[:2], corner[2:], table[k % len(table)])
    return out


def _draw(canvas: Array, low: Array, high: Array, color: Array) -> None:
    """The four lines of a box as far as they lie inside; none if it is inverted or outside."""
    size = np.array(canvas.shape[:2])
    if (low > high).any() or (low >= size).any() or (high < 0).any():
        return
    (top, left), (bottom, right) = np.maximum(low, 0), np.minimum(high, size - 1)
    for row in (low[0], high[0]):
        if 0 <= row < size[0]:
            canvas[row, left : right + 1] = color
    for column in (low[1], high[1]):
        if 0 <= column < size[1]:
            canvas[top : bottom + 1, column] = color


def _noise(call: Call) -> str:
    """What fills the parts of glimpses outside the image: uniform, gaussian or zero."""
    noise = call.attrs["noise"]
    text = noise.decode() if isinstance(noise, bytes) else str(noise)
    uniform = call.attrs["uniform_noise"]
    call.require(
        not uniform or text in ("", "uniform"),
        "uniform_noise and another noise must not be asked for at once",
        found=text,
    )
    call.require(
        text in ("", "uniform", "gaussian", "zero"),
        "noise must be known",
        found=text,
        needed="uniform, gaussian or zero",
    )
    return text or ("uniform" if uniform else "gaussian")


def _corners(call: Call, offsets: Array, image: tuple[int, int], size: tuple[int, int]) -> Array:
    """First row and column of each glimpse, int64 ``[N, 2]``."""
    at, half = offsets.astype(np.float32), np.float32(2)
    extent, window = np.array(image, np.float32), np.array(size, np.float32) / half
    normalized, centered = call.attrs["normalized"], call.attrs["centered"]
    first = call.op == "ExtractGlimpse"
    if normalized:
        at = at * extent
    if centered and (first or normalized):
        at = at / half + extent / half
    elif centered:
        at = at + extent / half
    if first or (normalized and centered):
        at = at - window
    return np.clip(np.trunc(at), -(2.0**31), 2.0**31).astype(np.int64)


def _filler(noise: str, image: Array, size: tuple[int, int]) -> Array:
    """A glimpse of nothing but noise, shaped after the image's values."""
    shape = (*size, image.shape[-1])
    if noise == "zero":
        return np.zeros(shape, np.float32)
    rng = np.random.default_rng()
    low, high = image.min((0, 1)), image.max((0, 1))
    if noise == "uniform":
        low, high = low.min(), high.max()
        return np.asarray(low + rng.random(shape, np.float32) * (high - low), np.float32)
    drawn = image.mean((0, 1)) + rng.standard_normal(shape) * image.std((0, 1))
    return np.asarray(np.clip(drawn, low, high), np.float32)


@kernel("ExtractGlimpse", "ExtractGlimpseV2")
@quiet
def extract_glimpse(call: Call, images: Array, size: Array, offsets: Array) -> Array:
    """``[N, h, w, C]``: a window of each image; the noise around images is NumPy's."""
    noise = _noise(call)
    call.require(
        images.ndim == 4 and size.shape == (2,) and offsets.shape == (images.shape[0], 2),
        "input must be a batch of images, size two numbers and offsets two for each image",
        found=f"{list(images.shape)}, {list(size.shape)} and {list(offsets.shape)}",
        needed="[N, H, W, C], [2] and [N, 2]",
    )
    window = int(size[0]), int(size[1])
    shape = check_size(call, (images.shape[0], *window, images.shape[3]), images.dtype)
    out = np.zeros(shape, np.float32)
    if not out.size:
        return out
    extent = images.shape[1], images.shape[2]
    call.require(
        noise == "zero" or min(extent) > 0, "images must have pixels, for noise to be like them",
        found=list(images.shape),
    )  # fmt: skip
    corners = _corners(call, offsets, extent, window).tolist()
    for n, (image, corner) in enumerate(zip(images, corners, strict=True)):
        spans = [_span(*row) for row in zip(corner, window, extent, strict=True)]
        if any(into != slice(0, size) for (into, _), size in zip(spans, window, strict=True)):
            out[n] = _filler(noise, image, window)
        (rows, from_rows), (columns, from_columns) = spans
        out[n][rows, columns] = image[from_rows, from_columns]
    return out


def _span(start: int, size: int, extent: int) -> tuple[slice, slice]:
    """Where along one axis a glimpse holds the image, and which part of it.

    As in TensorFlow, a glimpse that begins before the image ends with it cut at its own size.
    """
    count = max(min(size + start if start < 0 else size, extent - max(start, 0)), 0)
    into = size - max(size + start, 0) if start < 0 else 0
    return slice(min(into, size), min(into, size) + count), slice(
        max(start, 0), max(start, 0) + count
    )


@kernel("AdjustContrast")
@quiet
def adjust_contrast(call: Call, images: Array, factor: Array, low: Array, high: Array) -> Array:
    """``(x - mean) * factor + mean`` within bounds, float32."""
    call.require(
        images.ndim >= 3 and factor.ndim == low.ndim == high.ndim == 0,
        "images must have rank 3 or more, and factor and bounds be scalars",
        found=f"{list(images.shape)}, {list(factor.shape)}, {list(low.shape)}, {list(high.shape)}",
        needed="[..., H, W, C]",
    )
    wide = images.astype(np.float32)
    if not wide.size:
        return wide
    mean = wide.mean((-3, -2), keepdims=True)
    out = (wide - mean) * factor + mean
    return np.asarray(np.minimum(np.maximum(out, low), high), np.float32)
