"""Arrays to image files.

Source: TensorFlow ops EncodePng, EncodeJpeg, EncodeJpegVariableQuality. The bytes are not
TensorFlow's: what they decode to is, for JPEG with the same tables and the same rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.image._image_jpeg import write_jpeg
from drystone_base.kernels.image._image_png import write_png

__all__: list[str] = []


def _scalar(value: bytes) -> Array:
    out = np.empty((), object)
    out[()] = value
    return out


@kernel("EncodePng")
def encode_png(call: Call, image: Array) -> Array:
    """PNG files of ``[..., height, width, 1 to 4]``: one a leading dimension."""
    level = call.attrs["compression"]
    call.require(-1 <= level <= 9, "compression must lie in [-1, 9]", found=level)
    call.require(
        image.ndim >= 3 and 1 <= image.shape[-1] <= 4,
        "image must be rows of pixels of 1 to 4 channels",
        found=list(image.shape),
        needed="[..., height, width, channels]",
    )
    _check_pixels(call, image.shape[-3:-1])
    check_size(call, (image.size, 2), image.dtype)
    flat = image.reshape(math.prod(image.shape[:-3]), *image.shape[-3:])
    out = np.empty(len(flat), object)
    out[:] = [write_png(one, level) for one in flat]
    return out.reshape(image.shape[:-3])


def _check_pixels(call: Call, size: tuple[int, ...]) -> None:
    call.require(
        min(size) > 0,
        "an image must have pixels",
        found=list(size),
        needed="at least one row and column",
        status="INTERNAL",
    )


def _check_image(call: Call, image: Array, channels: tuple[int, ...]) -> None:
    call.require(
        image.ndim == 3 and image.shape[2] in channels,
        "image must be rows of pixels of 1 or 3 channels",
        found=list(image.shape),
        needed=f"[height, width, {' or '.join(map(str, channels))}]",
    )
    _check_pixels(call, image.shape[:2])
    call.require(
        max(image.shape[:2]) <= 65500,
        "an image must fit into a JPEG file",
        found=list(image.shape),
        needed="at most 65500 rows and columns",
    )


def _text(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


@kernel("EncodeJpeg")
def encode_jpeg(call: Call, image: Array) -> Array:
    """A JPEG file of ``[height, width, 1 or 3]``."""
    attrs = call.attrs
    channels = {b"": (1, 3), b"grayscale": (1,), b"rgb": (3,)}
    quality, pixels = attrs["quality"], (attrs["x_density"], attrs["y_density"])
    call.require(0 <= quality <= 100, "quality must lie in [0, 100]", found=quality)
    _check_image(call, image, channels[_text(attrs["format"])])
    xmp = _text(attrs["xmp_metadata"])
    call.require(len(xmp) < 65504, "xmp_metadata must fit into one segment", found=len(xmp))
    unit = 1 if _text(attrs["density_unit"]) == b"in" else 2
    return _scalar(
        write_jpeg(
            call,
            image,
            quality,
            progressive=attrs["progressive"],
            optimize=attrs["optimize_size"],
            downsample=attrs["chroma_downsampling"],
            density=(unit, pixels[0] & 0xFFFF, pixels[1] & 0xFFFF),
            xmp=xmp,
        )
    )


@kernel("EncodeJpegVariableQuality")
def encode_jpeg_variable_quality(call: Call, image: Array, quality: Array) -> Array:
    """A JPEG file of ``[height, width, 1 or 3]``; the quality is an input."""
    call.require(quality.ndim == 0, "quality must be a scalar", found=list(quality.shape))
    level = int(quality)
    call.require(0 <= level <= 100, "quality must lie in [0, 100]", found=level)
    _check_image(call, image, (1, 3))
    return _scalar(write_jpeg(call, image, level))
