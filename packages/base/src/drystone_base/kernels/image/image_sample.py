"""Resampling of images by separable kernels: ScaleAndTranslate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.image.image import separable

__all__: list[str] = []

Curve: TypeAlias = Callable[[Array], Array]


def _lanczos(radius: float) -> Curve:
    def curve(x: Array) -> Array:
        near = np.abs(x) <= 1e-3
        angle = np.pi * np.where(near, 1, x)
        wave = radius * np.sin(angle) * np.sin(angle / radius) / np.square(angle)
        return np.where(x > radius, 0, np.where(near, 1, wave))

    return curve


def _cubic(inner: tuple[float, ...], outer: tuple[float, ...]) -> Curve:
    """A curve of two cubics, given by their coefficients, on [0, 1) and [1, 2)."""

    def curve(x: Array) -> Array:
        pieces = [np.polyval(inner, x), np.polyval(outer, x)]
        return np.select([x < 1, x < 2], pieces, 0.0)

    return curve


_KERNELS: Final[dict[str, tuple[float, Curve]]] = {
    "lanczos1": (1.0, _lanczos(1)),
    "lanczos3": (3.0, _lanczos(3)),
    "lanczos5": (5.0, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.where(x >= 1.5, 0, np.exp(-2 * np.square(x)))),
    "box": (1.0, lambda x: np.select([x < 0.5, x == 0.5], [1.0, 0.5], 0.0)),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2.0, _cubic((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2))),
    "mitchellcubic": (2.0, _cubic((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9))),
}
"""Radius and value at a distance."""


def _matrix(call: Call, size: int, out: int, scale: float, shift: float) -> tuple[Array, Array]:
    """Weights ``[out, size]`` of inputs in outputs, and which inputs are read.

    Rows sum to 1 or, outside the image, are 0.
    """
    radius, curve = _KERNELS[call.attrs["kernel_type"]]
    inverse = np.float32(1) / np.float32(scale)
    at = (np.arange(out, dtype=np.float32) + np.float32(0.5)) * inverse
    at -= inverse * np.float32(shift)
    width = max(float(inverse), 1.0) if call.attrs["antialias"] else 1.0
    first = np.ceil(at - radius * width - 0.5)
    last = np.floor(at + radius * width - 0.5)
    pixel = np.arange(size)
    reached = (pixel >= np.clip(first, 0, size - 1)[:, None]) & (
        pixel <= np.clip(last, 0, size - 1)[:, None]
    )
    weight = np.where(reached, curve(np.abs(pixel + 0.5 - at[:, None]) / width), 0)
    total = weight.sum(1, keepdims=True)
    large = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    weight = np.where(large, weight / np.where(large, total, 1), weight)
    inside = ((at >= 0) & (at <= size))[:, None]
    # TensorFlow reads as many pixels for each output, the last ones with weight 0.
    begin = np.where(inside, np.clip(first, 0, size - 1)[:, None], 0)
    read = (pixel >= begin) & (pixel < begin + 2 * np.ceil(radius * width) + 1)
    return np.where(inside, weight, 0).astype(np.float32), read


def _matrices(
    call: Call, image: Array, out: tuple[int, int], scale: Array, shift: Array
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Weights along rows and columns, and which pixels they are for."""
    call.require(
        image.ndim == 4 and scale.shape == shift.shape == (2,) and image.size > 0,
        "images must have rank 4 and not be empty, scale and translation hold 2 values",
        found=f"{list(image.shape)}, {list(scale.shape)}, {list(shift.shape)}",
        needed="[N, H, W, C], [2] and [2]",
    )
    call.require(
        call.attrs["kernel_type"] in _KERNELS, "kernel_type must be known",
        found=call.attrs["kernel_type"], needed=", ".join(_KERNELS),
    )  # fmt: skip
    call.require(
        float(scale.min()) > 0 and min(out) > 0,
        "scales and sizes must be positive",
        found=f"{scale.tolist()} and {list(out)}",
        needed="above 0",
    )
    check_size(call, (image.shape[0], *out, image.shape[3]), np.dtype(np.float32))
    (rows, down), (columns, over) = (
        _matrix(call, image.shape[1 + k], out[k], float(scale[k]), float(shift[k])) for k in (0, 1)
    )
    return (rows, columns), (down, over)


@kernel("ScaleAndTranslate")
@quiet
def scale_and_translate(
    call: Call, images: Array, size: Array, scale: Array, translation: Array
) -> Array:
    """``[N, H, W, C] -> [N, h, w, C]`` float32; TF ``ScaleAndTranslate``."""
    call.require(size.shape == (2,), "size must hold 2 values", found=list(size.shape), needed=[2])
    out = int(size[0]), int(size[1])
    weights, reads = _matrices(call, images, out, scale, translation)
    return separable(images.astype(np.float32), *weights, reads)


@kernel("ScaleAndTranslateGrad")
@quiet
def scale_and_translate_grad(
    call: Call, grads: Array, image: Array, scale: Array, translation: Array
) -> Array:
    """Gradients shared among the pixels read; TF ``ScaleAndTranslateGrad``."""
    call.require(
        grads.ndim == image.ndim == 4 and grads.shape[::3] == image.shape[::3],
        "both inputs must have rank 4 and the same batch and channels",
        found=f"{list(grads.shape)} and {list(image.shape)}",
        needed="equal first and last dimensions",
    )
    out = grads.shape[1], grads.shape[2]
    (rows, columns), _ = _matrices(call, image, out, scale, translation)
    return separable(grads, rows.T, columns.T, (_spans(rows.T), _spans(columns.T)))


def _spans(weights: Array) -> Array:
    """Which outputs each input's gradient is read from: TensorFlow reads as many for each.

    Those begin with the first that it has a weight in, or with the first of all.
    """
    has = weights != 0
    first = has.argmax(1)
    last = np.where(has.any(1), weights.shape[1] - 1 - has[:, ::-1].argmax(1), -1)
    longest = int((last - first + 1).max(initial=0))
    place = np.arange(weights.shape[1])
    return np.asarray((place >= first[:, None]) & (place < first[:, None] + longest))
