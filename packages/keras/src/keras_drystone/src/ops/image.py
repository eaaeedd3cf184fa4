"""``keras.ops.image``: colours, sizes, transforms and filters."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import backend
from keras.src.backend.common import is_float_dtype

from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops import reducing, shaping
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.linalg import solve
from keras_drystone.src.ops.operands import is_integer, kind_of, like, sizes
from keras_drystone.src.ops.products import tensordot
from keras_drystone.src.ops.resampling import map_coordinates, scale_and_translate

__all__ = [
    "affine_transform", "compute_homography_matrix", "elastic_transform", "gaussian_blur",
    "hsv_to_rgb", "map_coordinates", "perspective_transform", "resize", "rgb_to_grayscale",
    "rgb_to_hsv", "scale_and_translate", "sobel_edges",
]  # fmt: skip

_RESIZE = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area")
_INTERPOLATIONS = ("nearest", "bilinear")
_FILLS = ("constant", "nearest", "wrap", "reflect")


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(
            f"Invalid value for argument `{name}`. Expected of one {allowed}. "
            f"Received: {name}={value}"
        )


def _images(images: Any) -> Any:
    x = convert_to_tensor(images)
    if x.ndim not in (3, 4):
        raise ValueError(
            "Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). "
            f"Received input with shape: images.shape={x.shape}"
        )
    return x


def _last(x: Any, form: str) -> Any:
    return x if form == "channels_last" else shaping.moveaxis(x, -3, -1)


def _back(x: Any, form: str) -> Any:
    return x if form == "channels_last" else shaping.moveaxis(x, -1, -3)


def rgb_to_grayscale(images: Any, data_format: str | None = None) -> Any:
    """How light each colour is."""
    x = _images(images)
    form = backend.standardize_data_format(data_format)
    axis = -1 if form == "channels_last" else -3
    if x.shape[axis] not in (1, 3):
        raise ValueError(
            "Invalid channel size: expected 3 (RGB) or 1 (Grayscale). "
            f"Received input with shape: images.shape={x.shape}"
        )
    if x.shape[axis] == 1:
        return shaping.copy(x)
    kind = kind_of(x)
    inner = cast(x, backend.result_type(kind, float))
    weights = convert_to_tensor([0.2989, 0.5870, 0.1140], kind_of(inner))
    found = tensordot(_last(inner, form), weights, [[-1], [0]])
    return cast(shaping.expand_dims(found, axis), kind)


def _colours(op: str, images: Any, data_format: str | None) -> Any:
    x = _images(images)
    form = backend.standardize_data_format(data_format)
    if not is_float_dtype(kind_of(x)):
        raise ValueError(
            f"Invalid images dtype: expected float dtype. Received: images.dtype={kind_of(x)}"
        )
    return _back(emit(op, _last(x, form)), form)


def rgb_to_hsv(images: Any, data_format: str | None = None) -> Any:
    """Hue, saturation and value."""
    return _colours("RGBToHSV", images, data_format)


def hsv_to_rgb(images: Any, data_format: str | None = None) -> Any:
    """Red, green and blue."""
    return _colours("HSVToRGB", images, data_format)


def resize(
    images: Any,
    size: Any,
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> Any:
    """Images of another size."""
    form = backend.standardize_data_format(data_format)
    _one_of("interpolation", interpolation, _RESIZE)
    if fill_mode != "constant":
        raise ValueError(
            "Invalid value for argument `fill_mode`. Only `'constant'` is supported. "
            f"Received: fill_mode={fill_mode}"
        )
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError(
            "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`."
        )
    if len(size) != 2:
        raise ValueError(
            "Argument `size` must be a tuple of two elements (height, width). "
            f"Received: size={size}"
        )
    x = _images(images)
    alone = x.ndim == 3
    x = _last(shaping.expand_dims(x, 0) if alone else x, form)
    if crop_to_aspect_ratio:
        x = _cropped(x, size)
    elif pad_to_aspect_ratio:
        x = _padded(x, size, fill_value)
    x = _back(_resized(x, size, interpolation, antialias), form)
    return shaping.squeeze(x, 0) if alone else x


_OPS = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor",
        "bicubic": "ResizeBicubic", "area": "ResizeArea"}  # fmt: skip
_KERNELS = {"bilinear": "triangle", "bicubic": "keyscubic"}


def _resized(x: Any, size: Any, interpolation: str, antialias: bool) -> Any:
    kind = kind_of(x)
    wanted = sizes(tuple(size))
    if interpolation in ("nearest", "area") or (interpolation == "bilinear" and not antialias):
        attrs = {} if interpolation == "area" else {"half_pixel_centers": True}
        found = emit(_OPS[interpolation], x, wanted, **attrs)
    else:
        given = cast(convert_to_tensor(shape(x)[1:3]), "float32")
        scale = e.divide(cast(wanted, "float32"), given)
        kernel = _KERNELS.get(interpolation, interpolation)
        found = emit("ScaleAndTranslate", x, wanted, scale, np.zeros(2, np.float32),
                     kernel_type=kernel, antialias=antialias)  # fmt: skip
    return _in_kind(found, kind)


def _in_kind(x: Any, kind: str) -> Any:
    """As a dtype: whole numbers are rounded, and cut off where a narrow dtype ends."""
    if kind_of(x) == kind:
        return x
    if kind == "bool":
        return cast(e.round(x), kind)
    if is_integer(kind):
        limits, x = np.iinfo(kind), e.round(x)
        if limits.bits < 32:  # others end where float32 has no whole numbers
            x = e.clip(x, limits.min, limits.max)
    return cast(x, kind)


def _fitting(x: Any, size: Any, smallest: bool) -> tuple[Any, Any]:
    """The sizes of the target's proportions: inside of the image, or around it."""
    height, width = shape(x)[1:3]
    if isinstance(height, int) and isinstance(width, int):
        best = min if smallest else max
        inner = int(float(width * size[0]) / size[1]), int(float(height * size[1]) / size[0])
        found = best(height, inner[0]), best(width, inner[1])
        return (max(found[0], 1), max(found[1], 1)) if smallest else found
    choose = e.minimum if smallest else e.maximum
    height, width = (cast(convert_to_tensor(v), "int32") for v in (height, width))

    def part(a: Any, to: int, by: int) -> Any:
        return cast(e.divide(cast(e.multiply(a, np.int32(to)), "float32"), float(by)), "int32")

    found = (
        choose(height, part(width, size[0], size[1])),
        choose(width, part(height, size[1], size[0])),
    )
    return e.maximum(found[0], 1), e.maximum(found[1], 1)


def _half(more: Any, less: Any) -> Any:
    return (more - less) // 2


def _cropped(x: Any, size: Any) -> Any:
    height, width = shape(x)[1:3]
    inner = _fitting(x, size, smallest=True)
    top, left = _half(height, inner[0]), _half(width, inner[1])
    x = shaping.along(x, 1, top, top + inner[0])
    return shaping.along(x, 2, left, left + inner[1])


def _padded(x: Any, size: Any, value: float) -> Any:
    height, width = shape(x)[1:3]
    outer = _fitting(x, size, smallest=False)
    top, left = _half(outer[0], height), _half(outer[1], width)
    widths = convert_to_tensor([[0, 0], [top, top], [left, left], [0, 0]], "int32")
    return emit("PadV2", x, widths, like(value, x))


def _projected(x: Any, transform: Any, interpolation: str, fill_mode: str, value: Any) -> Any:
    space = sizes(shape(x)[1:3])
    return emit("ImageProjectiveTransformV3", x, cast(transform, "float32"), space,
                cast(convert_to_tensor(value), "float32"), interpolation=interpolation.upper(),
                fill_mode=fill_mode.upper())  # fmt: skip


def affine_transform(
    images: Any,
    transform: Any,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: Any = 0,
    data_format: str | None = None,
) -> Any:
    """Images moved, turned and sheared by eight numbers."""
    form = backend.standardize_data_format(data_format)
    _one_of("interpolation", interpolation, _INTERPOLATIONS)
    _one_of("fill_mode", fill_mode, _FILLS)
    x, transform = _images(images), convert_to_tensor(transform)
    if transform.ndim not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of "
            f"transforms). Received input with shape: transform.shape={transform.shape}"
        )
    if transform.shape[-1] not in (8, None):
        raise ValueError(
            "Invalid transform shape: expected the last dimension to be 8. "
            f"Received: transform.shape={transform.shape}"
        )
    alone = x.ndim == 3
    x = shaping.expand_dims(x, 0) if alone else x
    transform = shaping.expand_dims(transform, 0) if transform.ndim == 1 else transform
    found = _back(_projected(_last(x, form), transform, interpolation, fill_mode, fill_value), form)
    return shaping.squeeze(found, 0) if alone else found


def perspective_transform(
    images: Any,
    start_points: Any,
    end_points: Any,
    interpolation: str = "bilinear",
    fill_value: Any = 0,
    data_format: str | None = None,
) -> Any:
    """Images seen so that four points are where four others were."""
    form = backend.standardize_data_format(data_format)
    start, end = (convert_to_tensor(p, "float32") for p in (start_points, end_points))
    _one_of("interpolation", interpolation, _INTERPOLATIONS)
    x = _images(images)
    for name, points in (("start_points", start), ("end_points", end)):
        if points.ndim not in (2, 3) or tuple(points.shape[-2:]) != (4, 2):
            raise ValueError(
                f"Invalid {name} shape: expected (4,2) for a single image or (N,4,2) for a "
                f"batch. Received shape: {points.shape}"
            )
    if start.shape != end.shape:
        raise ValueError(
            "start_points and end_points must have the same shape. Received "
            f"start_points.shape={start.shape}, end_points.shape={end.shape}"
        )
    alone = x.ndim == 3
    x = shaping.expand_dims(x, 0) if alone else x
    if start.ndim == 2:
        start, end = shaping.expand_dims(start, 0), shaping.expand_dims(end, 0)
    transform = compute_homography_matrix(start, end)
    found = _projected(_last(x, form), transform, interpolation, "constant", fill_value)
    found = _back(found, form)
    return shaping.squeeze(found, 0) if alone else found


def compute_homography_matrix(start_points: Any, end_points: Any) -> Any:
    """The eight numbers of the projection of four points onto four others.

    Each pair of points (u, v) and (x, y) gives two equations: ``a0 x + a1 y + a2 - a6 x u -
    a7 y u = u``, and the same of v with a3, a4, a5.
    """
    start, end = convert_to_tensor(start_points), convert_to_tensor(end_points)
    rows = []
    for k in range(4):
        (u, v), (x, y) = ((p[:, k, 0], p[:, k, 1]) for p in (start, end))
        one, zero = emit("OnesLike", x), emit("ZerosLike", x)
        for head, to in (([x, y, one, zero, zero, zero], u), ([zero, zero, zero, x, y, one], v)):
            tail = [e.negative(e.multiply(to, x)), e.negative(e.multiply(to, y))]
            rows.append(shaping.stack([*head, *tail], -1))
    matrix = shaping.stack(rows, 1)
    target = shaping.reshape(start, (-1, 8, 1))
    return shaping.reshape(solve(matrix, target), (-1, 8))


def _gaussian(size: int, sigma: Any, kind: str) -> Any:
    places = convert_to_tensor(np.arange(size) - (size - 1) / 2, kind)
    weights = e.exp(e.multiply(like(-0.5, places), e.square(e.divide(places, cast(sigma, kind)))))
    return e.divide(weights, reducing.sum(weights))


def gaussian_blur(
    images: Any, kernel_size: Any = (3, 3), sigma: Any = (1.0, 1.0), data_format: str | None = None
) -> Any:
    """Images blurred by a normal distribution."""
    form = backend.standardize_data_format(data_format)
    x = _images(images)
    kind = kind_of(x)
    alone = x.ndim == 3
    x = _last(shaping.expand_dims(x, 0) if alone else x, form)
    height, width = (
        _gaussian(int(n), convert_to_tensor(s, kind), kind)
        for n, s in zip(kernel_size, sigma, strict=True)
    )
    kernel = e.multiply(
        shaping.reshape(height, (-1, 1, 1, 1)), shaping.reshape(width, (1, -1, 1, 1))
    )
    kernel = shaping.tile(kernel, (1, 1, x.shape[-1], 1))
    x = emit("DepthwiseConv2dNative", x, kernel, strides=[1, 1, 1, 1], padding="SAME")
    x = _back(x, form)
    return shaping.squeeze(x, 0) if alone else x


def elastic_transform(
    images: Any,
    alpha: Any = 20.0,
    sigma: Any = 5.0,
    interpolation: str = "bilinear",
    fill_mode: str = "reflect",
    fill_value: Any = 0.0,
    seed: Any = None,
    data_format: str | None = None,
) -> Any:
    """Images distorted by smooth random distances."""
    from keras_drystone.src import random

    form = backend.standardize_data_format(data_format)
    _one_of("interpolation", interpolation, _INTERPOLATIONS)
    _one_of("fill_mode", fill_mode, _FILLS)
    x = _images(images)
    kind = kind_of(x)
    alone = x.ndim == 3
    x = _last(shaping.expand_dims(x, 0) if alone else x, form)
    count, height, width, _ = shape(x)
    size = 6 * int(sigma) | 1
    apart = random.normal((count, height, width, 2), dtype=kind, seed=seed)
    apart = gaussian_blur(e.multiply(apart, like(sigma, apart)), (size, size), (sigma, sigma),
                          "channels_last")  # fmt: skip
    apart = e.multiply(apart, like(alpha, apart))
    return _distorted(x, apart, form, alone, interpolation, fill_mode, fill_value)


def _distorted(
    x: Any, apart: Any, form: str, alone: bool, interpolation: str, fill_mode: str, value: Any
) -> Any:
    """Each place takes the colour of the place at its distance."""
    from keras_drystone.src.ops.creating import arange

    kind = kind_of(x)
    _, height, width, _ = shape(x)
    rows = e.add(shaping.reshape(arange(height, dtype=kind), (1, -1, 1)), apart[..., 1])
    columns = e.add(shaping.reshape(arange(width, dtype=kind), (1, 1, -1)), apart[..., 0])
    order = _INTERPOLATIONS.index(interpolation)
    found = []
    for b in range(x.shape[0] or 1):
        places = shaping.stack([rows[b], columns[b]])
        parts = [
            map_coordinates(x[b, ..., c], places, order, fill_mode, value)
            for c in range(x.shape[-1])
        ]
        found.append(shaping.stack(parts, -1))
    made = _back(cast(shaping.stack(found, 0), kind), form)
    return shaping.squeeze(made, 0) if alone else made


def sobel_edges(images: Any, data_format: str | None = None) -> Any:
    """How much each colour changes downwards and to the right."""
    form = backend.standardize_data_format(data_format)
    x = _last(convert_to_tensor(images), form)
    channels = x.shape[-1]
    down = np.asarray([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    kernels = np.stack([down, down.T], -1)[:, :, None]
    kernel = convert_to_tensor(np.tile(kernels, (1, 1, channels, 1)), kind_of(x))
    wide = shaping.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="reflect")
    found = emit("DepthwiseConv2dNative", wide, kernel, strides=[1, 1, 1, 1], padding="VALID")
    found = shaping.reshape(found, (*shape(x), 2))
    return found if form == "channels_last" else shaping.transpose(found, (0, 3, 1, 2, 4))
