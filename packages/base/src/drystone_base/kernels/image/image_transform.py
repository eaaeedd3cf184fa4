"""Images seen through a projective transform.

Source: TensorFlow ops ImageProjectiveTransformV2, ImageProjectiveTransformV3. What TensorFlow does
for an interpolation or fill_mode that it does not know is not defined: we refuse.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet

__all__: list[str] = []

_FAR: Final = np.float32(1 << 30)  # beyond every image
_LIMIT: Final = np.float32(1 << 63)


def _turns(at: Array, size: int, length: int, more: int = 0) -> Array:
    """``length`` times the whole turns in ``at / size``, in 64-bit integers that wrap.

    Turns that are no such integer (infinities, NaN) are the least one, as on x86.
    """
    count = at / np.float32(size)
    whole = np.where(np.abs(count) < _LIMIT, count, -_LIMIT).astype(np.int64)
    return ((whole + more) * length).astype(np.float32)


def _reflect(at: Array, size: int) -> Array:
    """Coordinates folded into ``[dcba|abcd|dcba]``."""
    double = 2 * size
    below = _turns(-at, double, double) + at
    below = np.where(below < -size, below + double, -below - 1)
    above = at - _turns(at, double, double)
    above = np.where(above >= size, double - above - 1, above)
    return np.where(at < 0, below, np.where(at > size - 1, above, at))


def _wrap(at: Array, size: int) -> Array:
    """Coordinates folded into ``[abcd|abcd|abcd]``."""
    below = at + _turns(-at, size - 1, size, 1)
    above = at - _turns(at, size - 1, size)
    return np.where(at < 0, below, np.where(at > size - 1, above, at))


def _mapped(mode: str, at: Array, size: int) -> Array:
    """Where in the image ``fill_mode`` looks for coordinates that lie outside."""
    if mode == "CONSTANT":
        return at
    if size <= 1 and mode != "NEAREST":
        at = np.where((at < 0) | (at > size - 1), np.float32(0), at)
    elif mode == "REFLECT":
        at = _reflect(at, size)
    elif mode == "WRAP":
        at = _wrap(at, size)
    return np.clip(at, np.float32(0), np.float32(size - 1)).astype(np.float32)


def _coordinates(transforms: Array, rows: int, columns: int) -> tuple[Array, ...]:
    """Row and column in the image of every output pixel, and where there is one."""
    y = np.arange(rows, dtype=np.float32)[:, None]
    x = np.arange(columns, dtype=np.float32)
    t = transforms[:, :, None, None]
    scale = t[:, 6] * x + t[:, 7] * y + np.float32(1)
    return (
        (t[:, 3] * x + t[:, 4] * y + t[:, 5]) / scale,
        (t[:, 0] * x + t[:, 1] * y + t[:, 2]) / scale,
        scale != 0,
    )


def _read(images: Array, row: Array, column: Array, fill: Array) -> Array:
    """``[N, h, w, C]`` at whole coordinates; ``fill`` outside, and at what is no number."""
    row, column = (
        np.where(np.abs(v) < _FAR, v, np.float32(-1)).astype(np.int64) for v in (row, column)
    )
    height, width = images.shape[1:3]
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    n = np.arange(len(images))[:, None, None]
    out = images[n, np.where(inside, row, 0), np.where(inside, column, 0)]
    return np.where(inside[..., None], out, fill)


def _blend(images: Array, y: Array, x: Array, fill: Array) -> Array:
    """Between four pixels, in float32; NaN at coordinates that are not finite."""
    top, left = np.floor(y), np.floor(x)
    lines = []
    for row in (top, top + 1):
        ends = [_read(images, row, c, fill).astype(np.float32) for c in (left, left + 1)]
        lines.append((left + 1 - x)[..., None] * ends[0] + (x - left)[..., None] * ends[1])
    return (top + 1 - y)[..., None] * lines[0] + (y - top)[..., None] * lines[1]


def _rounded(at: Array) -> Array:
    """The nearest integers, halves away from zero."""
    size = np.abs(at)
    whole = np.floor(size)
    whole = whole + (size - whole >= np.float32(0.5))
    return np.copysign(whole, at)


def _attribute(call: Call, name: str, known: tuple[str, ...]) -> str:
    given = call.attrs[name]
    text = (given.decode() if isinstance(given, bytes) else str(given)).upper()
    call.require(text in known, f"{name} must be known", found=text, needed=" or ".join(known))
    return text


def _target(call: Call, images: Array, transforms: Array, size: Array) -> tuple[int, int]:
    call.require(
        images.ndim == 4
        and transforms.ndim == 2
        and transforms.shape[0] in (1, images.shape[0])
        and transforms.shape[1] == 8
        and size.shape == (2,),
        "images must be a batch, transforms eight numbers for each or all, output_shape two",
        found=f"{list(images.shape)}, {list(transforms.shape)} and {list(size.shape)}",
        needed="[N, H, W, C], [N or 1, 8] and [2]",
    )
    rows, columns = int(size[0]), int(size[1])
    call.require(
        min(rows, columns) > 0, "output dimensions must be positive", found=[rows, columns]
    )
    check_size(call, (images.shape[0], rows, columns, images.shape[3]), images.dtype)
    return rows, columns


@kernel("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
@quiet
def image_projective_transform(
    call: Call, images: Array, transforms: Array, size: Array, fill_value: Array | None = None
) -> Array:
    """``[N, h, w, C]``: pixel (x, y) shows ``(ax + by + c, dx + ey + f) / (gx + hy + 1)``."""
    mode = _attribute(call, "fill_mode", ("REFLECT", "WRAP", "CONSTANT", "NEAREST"))
    method = _attribute(call, "interpolation", ("NEAREST", "BILINEAR"))
    rows, columns = _target(call, images, transforms, size)
    if fill_value is not None:
        call.require(
            fill_value.ndim == 0, "fill_value must be a scalar", found=list(fill_value.shape)
        )
    fill = np.asarray(0 if fill_value is None else fill_value).astype(images.dtype)
    shape = (images.shape[0], rows, columns, images.shape[3])
    if not math.prod(images.shape):
        return np.full(shape, fill, images.dtype)
    y, x, exists = _coordinates(transforms, rows, columns)
    height, width = images.shape[1:3]
    y, x = _mapped(mode, y, height), _mapped(mode, x, width)
    if method == "NEAREST":
        out = _read(images, _rounded(y), _rounded(x), fill)
    else:
        out = _blend(images, y, x, fill)
    return np.where(exists[..., None], out.astype(images.dtype), fill)
