"""Colours of images: HSV, contrast, hue and saturation."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen

__all__: list[str] = []


def _check_rgb(call: Call, images: Array, rank: int = 1) -> None:
    call.require(
        images.ndim >= rank and images.shape[-1] == 3,
        "images must have three channels in the last dimension",
        found=list(images.shape),
        needed="[..., 3]",
        status="INVALID_ARGUMENT" if rank > 1 or not images.ndim else "FAILED_PRECONDITION",
    )


def _to_hsv(rgb: Array) -> Array:
    red, green, blue = (rgb[..., k] for k in range(3))
    value = rgb.max(-1)
    span = value - rgb.min(-1)
    saturation = np.where(value > 0, span / value, 0)
    kind = rgb.dtype.type
    unit = kind(1) / (kind(6) * span)
    hue = np.where(
        red == value,
        unit * (green - blue),
        np.where(
            green == value,
            unit * (blue - red) + kind(2 / 6),
            unit * (red - green) + kind(4 / 6),
        ),
    )
    hue = np.where(span > 0, hue, 0)
    return np.stack([np.where(hue < 0, hue + 1, hue), saturation, value], -1).astype(rgb.dtype)


def _to_rgb(hsv: Array) -> Array:
    sixth, saturation, value = hsv[..., 0] * 6, hsv[..., 1], hsv[..., 2]
    shares = (
        np.abs(sixth - 3) - 1,
        2 - np.abs(sixth - 2),
        2 - np.abs(sixth - 4),
    )
    parts = [((1 - saturation) + saturation * np.clip(s, 0, 1)) * value for s in shares]
    return np.stack(parts, -1).astype(hsv.dtype)


@kernel("RGBToHSV")
@quiet
def rgb_to_hsv(call: Call, images: Array) -> Array:
    """``[..., 3]``, values in [0, 1]; TF ``RGBToHSV``."""
    _check_rgb(call, images)
    return _to_hsv(widen(images)).astype(images.dtype, copy=False)


@kernel("HSVToRGB")
@quiet
def hsv_to_rgb(call: Call, images: Array) -> Array:
    """``[..., 3]``, values in [0, 1]; TF ``HSVToRGB``."""
    _check_rgb(call, images)
    return _to_rgb(widen(images)).astype(images.dtype, copy=False)


@kernel("AdjustContrastv2")
@quiet
def adjust_contrast(call: Call, images: Array, factor: Array) -> Array:
    """``(x - mean) * factor + mean``, means by image and channel; TF ``AdjustContrastv2``."""
    call.require(
        images.ndim >= 3 and factor.ndim == 0,
        "images must have rank 3 or more and contrast_factor be a scalar",
        found=f"{list(images.shape)} and {list(factor.shape)}",
        needed="[..., H, W, C]",
    )
    if not images.size:
        return images
    wide = images.astype(np.float32)
    mean = wide.mean((-3, -2), keepdims=True)
    return np.asarray((wide - mean) * factor + mean).astype(images.dtype, copy=False)


@kernel("AdjustHue", "AdjustSaturation")
@quiet
def adjust_color(call: Call, images: Array, amount: Array) -> Array:
    """Hue turned by ``amount`` (of a full turn) or saturation times it; TF ``AdjustHue``, ..."""
    _check_rgb(call, images, 3)
    call.require(
        amount.ndim == 0, "the amount must be a scalar", found=list(amount.shape), needed=[]
    )
    hsv = _to_hsv(images.astype(np.float32))
    if call.op == "AdjustHue":
        hsv[..., 0] = np.mod(hsv[..., 0] + amount, 1)
    else:
        hsv[..., 1] = np.clip(hsv[..., 1] * amount, 0, 1)
    return _to_rgb(hsv).astype(images.dtype, copy=False)
