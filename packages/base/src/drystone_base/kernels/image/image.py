"""Resizing of images: bilinear, nearest neighbour, bicubic, area, and their gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen

__all__ = ["positions", "separable"]

_TABLE: Final = 1024


@dataclass(frozen=True)
class Taps:
    """Which inputs make an output along one axis: ``[out, taps]`` indices and float32 weights."""

    index: Array
    weight: Array
    is_padded: bool = False  # with taps of weight 0, that are none

    def along(self, x: Array) -> Array:
        """``[out, ...]`` of ``x: [in, ...]``, tap by tap: infinities of two taps may meet."""
        sums = np.zeros((len(self.index), *x.shape[1:]), np.result_type(x, self.weight))
        for index, weight in zip(self.index.T, self.weight.T, strict=True):
            at = np.flatnonzero(weight) if self.is_padded else np.arange(len(weight))
            sums[at] += weight[at].reshape(-1, *[1] * (x.ndim - 1)) * x[index[at]]
        return sums

    def matrix(self, size: int) -> Array:
        """The same as a dense float32 ``[out, size]`` matrix."""
        out = np.zeros((len(self.index), size), np.float32)
        rows = np.broadcast_to(np.arange(len(self.index))[:, None], self.index.shape)
        np.add.at(out, (rows, self.index), self.weight)
        return out

    def shared(self, grads: Array, size: int) -> Array:
        """``[size, ...]`` of ``grads: [out, ...]``, each of which goes to its taps one by one."""
        sums = np.zeros((size, *grads.shape[1:]), np.result_type(grads, self.weight))
        for index, weight in zip(self.index.T, self.weight.T, strict=True):
            np.add.at(sums, index, weight.reshape(-1, *[1] * (grads.ndim - 1)) * grads)
        return sums


def _scale(call: Call, size: int, out: int) -> np.float32:
    """Input pixels per output pixel."""
    if call.attrs["align_corners"] and out > 1:
        return np.float32(np.float32(size - 1) / np.float32(out - 1))
    return np.float32(np.float32(size) / np.float32(out))


def positions(call: Call, size: int, out: int) -> Array:
    """Where each output pixel lies in the input, float32."""
    steps = np.arange(out, dtype=np.float32)
    scale = _scale(call, size, out)
    if call.attrs.get("half_pixel_centers"):
        half = np.float32(0.5)
        return np.asarray((steps + half) * scale - half)
    return np.asarray(steps * scale)


def _linear(call: Call, size: int, out: int) -> Taps:
    at = positions(call, size, out)
    floor = np.floor(at)
    low = np.maximum(floor.astype(np.int64), 0)
    high = np.minimum(np.ceil(at).astype(np.int64), size - 1)
    share = at - floor
    return Taps(np.stack([low, high], 1), np.stack([1 - share, share], 1))


def _nearest(call: Call, size: int, out: int) -> Array:
    """The input pixel nearest to each output pixel."""
    scale = _scale(call, size, out)
    steps = np.arange(out, dtype=np.float32)
    if call.attrs["half_pixel_centers"]:
        steps += np.float32(0.5)
    at = steps * scale
    whole = np.floor(at + np.float32(0.5)) if call.attrs["align_corners"] else np.floor(at)
    return np.asarray(np.clip(whole.astype(np.int64), 0, size - 1))


def _cubic_kernel(keys: bool) -> tuple[Array, Array]:
    """The cubic at distances ``k / 1024`` and ``1 + k / 1024``."""
    a = -0.5 if keys else -0.75
    x = np.arange(_TABLE + 1) / _TABLE
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = x + 1
    return near.astype(np.float32), (((a * far - 5 * a) * far + 8 * a) * far - 4 * a).astype("f4")


def _cubic(call: Call, size: int, out: int) -> Taps:
    """Four taps; with half-pixel centres those outside count for nothing, else they are clamped."""
    keys = bool(call.attrs["half_pixel_centers"])
    at = positions(call, size, out)
    floor = np.floor(at)
    offset = np.rint((at - floor) * np.float32(_TABLE)).astype(np.int64)
    near, far = _cubic_kernel(keys)
    rest = _TABLE - offset
    weight = np.stack([far[offset], near[offset], near[rest], far[rest]], 1)
    wanted = floor.astype(np.int64)[:, None] + np.arange(-1, 3)
    index = np.clip(wanted, 0, size - 1)
    if keys:
        weight = np.where(index == wanted, weight, np.float32(0))
        total = weight.sum(1, keepdims=True)
        large = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
        weight = np.where(large, weight / np.where(large, total, 1), weight)
    return Taps(index, weight)


def _area(call: Call, size: int, out: int) -> Taps:
    """Every pixel that the output pixel covers, weighted by the part covered."""
    scale = _scale(call, size, out)
    low = np.arange(out, dtype=np.float32) * scale
    high = np.arange(1, out + 1, dtype=np.float32) * scale
    start = np.floor(low).astype(np.int64)
    width = int((np.ceil(high).astype(np.int64) - start).max(initial=1))
    pixel = start[:, None] + np.arange(width)
    edge = pixel.astype(np.float32)
    covered = np.minimum(edge + 1, high[:, None]) - np.maximum(edge, low[:, None])
    if scale == 0:  # aligned corners of a single pixel
        covered, scale = np.ones_like(covered), covered.dtype.type(1)
    weight = np.maximum(covered, 0) / scale
    return Taps(np.clip(pixel, 0, size - 1), weight.astype(np.float32), is_padded=True)


def _target(call: Call, images: Array, size: Array) -> tuple[int, int]:
    """The wanted rows and columns, checked."""
    call.require(
        images.ndim == 4 and size.shape == (2,),
        "images must have rank 4 and size hold rows and columns",
        found=f"{list(images.shape)} and size of shape {list(size.shape)}",
        needed="[N, H, W, C] and [2]",
    )
    rows, columns = int(size[0]), int(size[1])
    call.require(
        rows > 0 and columns > 0,
        "output dimensions must be positive",
        found=[rows, columns],
        needed="1 or more",
    )
    call.require(
        images.shape[1] > 0 and images.shape[2] > 0 and images.shape[3] > 0,
        "input image must be of non-zero size",
        found=list(images.shape),
        needed="at least one row, column and channel",
    )
    check_size(call, (images.shape[0], rows, columns, images.shape[3]), np.dtype(np.float32))
    return rows, columns


@kernel("ResizeBilinear")
@quiet
def resize_bilinear(call: Call, images: Array, size: Array) -> Array:
    """``[N, H, W, C] -> [N, h, w, C]`` float32, between four pixels; TF ``ResizeBilinear``."""
    rows, columns = _target(call, images, size)
    source = images.astype(np.float32)
    if (rows, columns) == source.shape[1:3]:
        return source
    if not images.size:
        return np.zeros((0, rows, columns, images.shape[3]), np.float32)
    x = _linear(call, source.shape[2], columns)
    y = _linear(call, source.shape[1], rows)
    left, right = source[:, :, x.index[:, 0]], source[:, :, x.index[:, 1]]
    lines = left + (right - left) * x.weight[:, 1, None]
    top, bottom = lines[:, y.index[:, 0]], lines[:, y.index[:, 1]]
    return np.asarray(top + (bottom - top) * y.weight[:, 1, None, None])


@kernel("ResizeNearestNeighbor")
def resize_nearest(call: Call, images: Array, size: Array) -> Array:
    """``[N, H, W, C] -> [N, h, w, C]``, pixels copied; TF ``ResizeNearestNeighbor``."""
    rows, columns = _target(call, images, size)
    if not images.size:
        return np.zeros((0, rows, columns, images.shape[3]), images.dtype)
    picked = images[:, _nearest(call, images.shape[1], rows)]
    return np.asarray(picked[:, :, _nearest(call, images.shape[2], columns)])


def separable(
    x: Array, rows: Array, columns: Array, reads: tuple[Array, Array] | None = None
) -> Array:
    """``rows @ x @ columns.T`` for every image and channel of ``[N, H, W, C]``.

    With ``reads``, elements that are not read leave no NaN.
    """
    if reads is not None and not np.isfinite(x).all():
        down, over = reads
        across = _read(x.transpose(2, 0, 1, 3), columns, over)
        return _read(across.transpose(2, 1, 0, 3), rows, down).transpose(1, 0, 2, 3)
    across = np.matmul(columns, x)
    flat = across.reshape(*across.shape[:2], len(columns) * x.shape[3])
    return np.asarray(np.matmul(rows, flat)).reshape(x.shape[0], len(rows), *across.shape[2:])


def _read(x: Array, weights: Array, reads: Array) -> Array:
    """Sums ``[out, ...]`` of what each output reads of ``[in, ...]``."""
    out = np.zeros((len(weights), *x.shape[1:]), np.result_type(x, weights))
    for k, line in enumerate(x):
        at = np.flatnonzero(reads[:, k])
        out[at] += weights[at, k].reshape(-1, *[1] * line.ndim) * line
    return out


@kernel("ResizeBicubic", "ResizeArea")
@quiet
def resize_weighted(call: Call, images: Array, size: Array) -> Array:
    """``[N, H, W, C] -> [N, h, w, C]`` float32; TF ``ResizeBicubic``, ``ResizeArea``."""
    rows, columns = _target(call, images, size)
    taps = _cubic if call.op == "ResizeBicubic" else _area
    source = images.astype(np.float32)
    if not images.size:
        return np.zeros((0, rows, columns, images.shape[3]), np.float32)
    y, x = taps(call, source.shape[1], rows), taps(call, source.shape[2], columns)
    if not np.isfinite(source).all():
        lines = y.along(source.transpose(1, 0, 2, 3))
        return np.ascontiguousarray(x.along(lines.transpose(2, 1, 0, 3)).transpose(1, 2, 0, 3))
    return separable(source, y.matrix(source.shape[1]), x.matrix(source.shape[2]))


@kernel("ResizeBilinearGrad", "ResizeBicubicGrad")
@quiet
def resize_grad(call: Call, grads: Array, image: Array) -> Array:
    """Gradients shared among the pixels read; TF ``ResizeBilinearGrad``, ``ResizeBicubicGrad``."""
    call.require(
        grads.ndim == 4 and image.ndim == 4,
        "both inputs must have rank 4",
        found=f"{list(grads.shape)} and {list(image.shape)}",
        needed="[N, h, w, C] and [N, H, W, C]",
    )
    call.require(
        grads.shape[::3] == image.shape[::3],
        "both inputs must have the same batch and channels",
        found=f"{list(grads.shape)} and {list(image.shape)}",
        needed="equal first and last dimensions",
    )
    call.require(
        min(*grads.shape[1:3], *image.shape[1:3]) > 0,
        "rows and columns must be positive",
        found=f"{list(grads.shape)} and {list(image.shape)}",
        needed="1 or more of each",
    )
    taps = _linear if call.op == "ResizeBilinearGrad" else _cubic
    height, width = image.shape[1:3]
    y, x = taps(call, height, grads.shape[1]), taps(call, width, grads.shape[2])
    if np.isfinite(grads).all():
        found = separable(grads, y.matrix(height).T, x.matrix(width).T)
    else:
        lines = x.shared(grads.transpose(2, 0, 1, 3), width)
        found = y.shared(lines.transpose(2, 1, 0, 3), height).transpose(1, 0, 2, 3)
    return np.ascontiguousarray(found.astype(image.dtype, copy=False))


@kernel("ResizeNearestNeighborGrad")
@quiet
def resize_nearest_grad(call: Call, grads: Array, size: Array) -> Array:
    """Gradients added where they were copied from; TF ``ResizeNearestNeighborGrad``."""
    height, width = _target(call, grads, size)
    wide = widen(grads)
    lines = np.zeros((height, grads.shape[0], grads.shape[2], grads.shape[3]), wide.dtype)
    np.add.at(lines, _nearest(call, height, grads.shape[1]), wide.transpose(1, 0, 2, 3))
    out = np.zeros((width, height, grads.shape[0], grads.shape[3]), wide.dtype)
    np.add.at(out, _nearest(call, width, grads.shape[2]), lines.transpose(2, 0, 1, 3))
    return np.ascontiguousarray(out.transpose(2, 1, 0, 3).astype(grads.dtype))
