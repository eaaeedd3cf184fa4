"""Convolutions and pooling: channels last in the graph, one spatial axis as two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src import backend
from keras.src.backend.common.backend_utils import (
    check_conv_input_channels,
    check_conv_transpose_input_channels,
    compute_conv_transpose_output_shape,
)

from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops import reducing, shaping
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.operands import kind_of, promoted, sizes

__all__ = [
    "adaptive_average_pool", "adaptive_max_pool", "average_pool", "conv", "conv_transpose",
    "depth_to_space", "depthwise_conv", "fold", "max_pool", "separable_conv", "space_to_depth",
    "unfold",
]  # fmt: skip


def _per_axis(value: Any, count: int) -> list[int]:
    found = [value] * count if isinstance(value, int | np.integer) else list(value)
    return [int(v) for v in (found * count if len(found) == 1 else found)]


def _last(x: Any, data_format: str) -> Any:
    """With the channels last."""
    return x if data_format == "channels_last" else shaping.moveaxis(x, 1, -1)


def _back(x: Any, data_format: str) -> Any:
    """With the channels where they were."""
    return x if data_format == "channels_last" else shaping.moveaxis(x, -1, 1)


def _windows(rank: int, *values: list[int]) -> list[list[int]]:
    """Values of each axis of ``NHWC`` or ``NDHWC``; one spatial axis is W."""
    wide = [[1, *v] if rank == 1 else v for v in values]
    return [[1, *v, 1] for v in wide]


_FORMATS = {1: "NHWC", 2: "NHWC", 3: "NDHWC"}


def _operands(inputs: Any, kernel: Any) -> tuple[Any, Any, str]:
    """Both in a dtype of floats; the result's dtype is that of Keras."""
    x, k = promoted(convert_to_tensor(inputs), convert_to_tensor(kernel))
    kind = kind_of(x)
    wanted = kind
    if "int" in kind:
        wanted = "int32" if kind == "int8" else kind
        x, k = cast(x, "float64"), cast(k, "float64")
    return x, k, wanted


def conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """The convolution of one, two or three spatial axes, in groups where channels say so."""
    form = backend.standardize_data_format(data_format)
    x, k, kind = _operands(inputs, kernel)
    check_conv_groups(x, k, form)
    rank = x.ndim - 2
    x = _last(x, form)
    steps, dilations = _windows(rank, _per_axis(strides, rank), _per_axis(dilation_rate, rank))
    attrs = {"strides": steps, "dilations": dilations, "padding": padding.upper()}
    if rank == 1:
        found = emit("Conv2D", shaping.expand_dims(x, 1), shaping.expand_dims(k, 0), **attrs)
        found = shaping.squeeze(found, 1)
    else:
        found = emit("Conv2D" if rank == 2 else "Conv3D", x, k, data_format=_FORMATS[rank], **attrs)
    return _back(cast(found, kind), form)


def check_conv_groups(x: Any, kernel: Any, form: str) -> None:
    """Raises ``ValueError`` unless channels are a multiple of the kernel's."""
    channels = x.shape[-1] if form == "channels_last" else x.shape[1]
    inner = kernel.shape[-2]
    if channels is not None and inner and channels % inner:
        raise ValueError(
            "The number of input channels must be evenly divisible by kernel's in_channels. "
            f"Received: input channels {channels}, kernel in_channels {inner}. "
        )


def depthwise_conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """The convolution of each channel by itself."""
    form = backend.standardize_data_format(data_format)
    x, k, kind = _operands(inputs, kernel)
    check_conv_input_channels(x, k, form)
    rank = x.ndim - 2
    if rank > 2:
        raise ValueError(f"inputs must have one or two spatial axes. Received: {x.shape}")
    x = _last(x, form)
    step, dilation = _per_axis(strides, rank), _per_axis(dilation_rate, rank)
    attrs = {"strides": [1, step[0], step[-1], 1], "dilations": [1, dilation[0], dilation[-1], 1],
             "padding": padding.upper()}  # fmt: skip
    if rank == 1:
        x, k = shaping.expand_dims(x, 1), shaping.expand_dims(k, 0)
    found = emit("DepthwiseConv2dNative", x, k, **attrs)
    return _back(cast(shaping.squeeze(found, 1) if rank == 1 else found, kind), form)


def separable_conv(
    inputs: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """The convolution of each channel, then one of all channels at each place."""
    form = backend.standardize_data_format(data_format)
    apart = depthwise_conv(inputs, depthwise_kernel, strides, padding, form, dilation_rate)
    return conv(apart, pointwise_kernel, 1, "valid", form, 1)


def conv_transpose(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    output_padding: Any = None,
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """The gradient of a convolution by its input."""
    form = backend.standardize_data_format(data_format)
    x, k, kind = _operands(inputs, kernel)
    check_conv_transpose_input_channels(x, k, form)
    rank = x.ndim - 2
    x = _last(x, form)
    full = compute_conv_transpose_output_shape(
        list(shape(x)), k.shape[:-2], k.shape[-2], strides, padding, output_padding,
        "channels_last", dilation_rate,
    )  # fmt: skip
    steps, dilations = _windows(rank, _per_axis(strides, rank), _per_axis(dilation_rate, rank))
    attrs = {"strides": steps, "dilations": dilations, "padding": padding.upper()}
    if rank == 1:
        x, k = shaping.expand_dims(x, 1), shaping.expand_dims(k, 0)
        full = [full[0], 1, *full[1:]]
    op = "Conv3DBackpropInputV2" if rank == 3 else "Conv2DBackpropInput"
    found = emit(op, sizes(full), k, x, data_format=_FORMATS[rank], **attrs)
    return _back(cast(shaping.squeeze(found, 1) if rank == 1 else found, kind), form)


def _pooled(op: str) -> Callable[..., Any]:
    def function(
        inputs: Any,
        pool_size: Any,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
    ) -> Any:
        form = backend.standardize_data_format(data_format)
        x = convert_to_tensor(inputs)
        rank = x.ndim - 2
        x = _last(x, form)
        window = _per_axis(pool_size, rank)
        step = window if strides is None else _per_axis(strides, rank)
        ksize, steps = _windows(rank, window, step)
        attrs = {"ksize": ksize, "strides": steps, "padding": padding.upper()}
        if rank == 1:
            found = shaping.squeeze(emit(op, shaping.expand_dims(x, 1), **attrs), 1)
        else:
            found = emit(op if rank == 2 else f"{op}3D", x, **attrs)
        return _back(found, form)

    function.__doc__ = f"{op} of windows."
    return function


max_pool, average_pool = _pooled("MaxPool"), _pooled("AvgPool")


def _adaptive(reduce: Callable[..., Any]) -> Callable[..., Any]:
    def function(inputs: Any, output_size: Any, data_format: str | None = None) -> Any:
        form = backend.standardize_data_format(data_format)
        x = convert_to_tensor(inputs)
        rank = x.ndim - 2
        if rank not in (1, 2, 3):
            raise ValueError("adaptive pooling supports only 1D/2D/3D")
        x = _last(x, form)
        for k, size in enumerate(_per_axis(output_size, rank)):
            x = _adapted(reduce, x, k + 1, size)
        return _back(x, form)

    function.__doc__ = "Windows of the sizes that give an output of a size."
    return function


def _adapted(reduce: Callable[..., Any], x: Any, axis: int, size: int) -> Any:
    """One axis: window k goes from floor(k n / size) to ceil((k + 1) n / size)."""
    length = x.shape[axis]
    bounds = [(k * length // size, -(-(k + 1) * length // size)) for k in range(size)]
    parts = [reduce(shaping.along(x, axis, a, b), axis, True) for a, b in bounds]
    return shaping.concatenate(parts, axis)


adaptive_average_pool, adaptive_max_pool = _adaptive(reducing.mean), _adaptive(reducing.max)


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Windows of images (N, C, H, W) as columns (N, C * kH * kW, L)."""
    x = convert_to_tensor(input)
    k, d, p, s = (_per_axis(v, 2) for v in (kernel_size, dilation, padding, stride))
    x = shaping.pad(x, [[0, 0], [0, 0], [p[0]] * 2, [p[1]] * 2])
    _, channels, *space = x.shape
    out = [(n - (a - 1) * b - 1) // c + 1 for n, a, b, c in zip(space, k, d, s, strict=True)]
    parts = [
        shaping.along(
            shaping.along(x, 2, i * d[0], i * d[0] + (out[0] - 1) * s[0] + 1, s[0]),
            3, j * d[1], j * d[1] + (out[1] - 1) * s[1] + 1, s[1],
        )
        for i in range(k[0]) for j in range(k[1])
    ]  # fmt: skip
    columns = shaping.stack(parts, 2)
    return shaping.reshape(columns, (shape(x)[0], channels * k[0] * k[1], out[0] * out[1]))


def fold(
    x: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """Columns (N, C * kH * kW, L) added up to images (N, C, H, W)."""
    x = convert_to_tensor(x)
    size, k, d, p, s = (
        _per_axis(v, 2) for v in (output_size, kernel_size, dilation, padding, stride)
    )
    out = [
        (n + 2 * e - b * (a - 1) - 1) // c + 1
        for n, a, b, c, e in zip(size, k, d, s, p, strict=True)
    ]
    count, channels = shape(x)[0], x.shape[1] // (k[0] * k[1])
    space = [n + 2 * e for n, e in zip(size, p, strict=True)]
    places = _places(k, d, s, out, space)
    rows = shaping.moveaxis(shaping.reshape(x, (count, channels, -1)), -1, 0)
    found = emit("UnsortedSegmentSum", rows, places, np.int32(space[0] * space[1]))
    found = shaping.reshape(shaping.moveaxis(found, 0, -1), (count, channels, *space))
    found = shaping.along(found, 2, p[0], space[0] - p[0])
    return shaping.along(found, 3, p[1], space[1] - p[1])


def _places(k: list[int], d: list[int], s: list[int], out: list[int], space: list[int]) -> Any:
    """The place in the image of each element of a column, in the order of columns."""
    i, j, h, w = np.meshgrid(*(np.arange(n) for n in (*k, *out)), indexing="ij")
    rows, columns = i * d[0] + h * s[0], j * d[1] + w * s[1]
    return (rows * space[1] + columns).reshape(-1).astype(np.int32)


def depth_to_space(x: Any, block_size: int, data_format: str = "channels_last") -> Any:
    """Blocks of channels as blocks of space; channels first are numbered otherwise."""
    x = convert_to_tensor(x)
    if data_format == "channels_last":
        return emit("DepthToSpace", x, block_size=block_size)
    n, c, h, w = shape(x)
    b = block_size
    x = shaping.reshape(x, (n, c // (b * b), b, b, h, w))
    x = shaping.transpose(x, (0, 1, 4, 2, 5, 3))
    return shaping.reshape(x, (n, c // (b * b), h * b, w * b))


def space_to_depth(x: Any, block_size: int, data_format: str = "channels_last") -> Any:
    """Blocks of space as blocks of channels; channels first are numbered otherwise."""
    x = convert_to_tensor(x)
    if data_format == "channels_last":
        return emit("SpaceToDepth", x, block_size=block_size)
    n, c, h, w = shape(x)
    b = block_size
    x = shaping.reshape(x, (n, c, h // b, b, w // b, b))
    x = shaping.transpose(x, (0, 1, 3, 5, 2, 4))
    return shaping.reshape(x, (n, c * b * b, h // b, w // b))
