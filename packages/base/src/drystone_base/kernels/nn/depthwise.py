"""Depthwise convolution and its gradients, one multiply-add per filter element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.nn._windows import Window, channels_last, from_channels_last, window_of

__all__ = ["depthwise"]

# From here on one pass over all windows is faster than one pass per filter element.
_MANY_CHANNELS: Final = 64


def _plan(call: Call, spatial: Sequence[int], channels: int, filters: Sequence[int]) -> Window:
    call.require(
        len(spatial) == 2 and len(filters) == 4 and filters[2] == channels,
        "the filter must be [rows, columns, channels, multiplier] for the input's channels",
        found=f"{channels} channels, filter {list(filters)}",
        needed="rank 4 and equal channels",
    )
    return window_of(call, spatial, filters[:2], least=0)


@quiet
def depthwise(x: Array, filters: Array, window: Window) -> Array:
    """``[N, *spatial, C]`` with ``[*size, C, M]``: ``[N, *out, C * M]``, example by example."""
    channels, multiplier = filters.shape[-2:]
    if multiplier == 1 and channels >= _MANY_CHANNELS:
        view = window.view(window.pad(x))
        return np.asarray(np.einsum("nhwijc,ijc->nhwc", view, filters[..., 0]))
    out = np.zeros((x.shape[0], *window.out, channels * multiplier), x.dtype)
    weights = filters.reshape(*window.size, channels * multiplier)
    source = window.pad(x)
    product = np.empty((1, *out.shape[1:]), x.dtype)
    for n in range(x.shape[0]):
        for index, tap in window.each_tap(source[n : n + 1]):
            taken = tap if multiplier == 1 else np.repeat(tap, multiplier, axis=-1)
            np.multiply(taken, weights[index], out=product)
            out[n : n + 1] += product
    return out


def forward(call: Call, x: Array, filters: Array) -> Array:
    """``x`` in the node's layout convolved as the node's attributes say."""
    layout = call.attrs["data_format"]
    source = channels_last(x, layout)
    window = _plan(call, source.shape[1:-1], source.shape[-1], filters.shape)
    check_size(call, (x.shape[0], *window.out, filters.shape[2] * filters.shape[3]), x.dtype)
    out = depthwise(widen(source), widen(filters), window).astype(x.dtype, copy=False)
    return from_channels_last(out, layout)


@kernel("DepthwiseConv2dNative")
def depthwise_conv(call: Call, x: Array, filters: Array) -> Array:
    """``[N, H, W, C] -> [N, h, w, C * M]``, every channel by its own filters.

    TF ``DepthwiseConv2dNative``.
    """
    call.require(
        x.ndim == 4, "input must be a batch of images", found=list(x.shape), needed="rank 4"
    )
    return forward(call, x, filters)


def _gradient(call: Call, dy: Array, window: Window, filters: Sequence[int], batch: int) -> Array:
    """The output gradient as ``[N, *out, C, M]``, checked."""
    grad = channels_last(dy, call.attrs["data_format"])
    needed = (batch, *window.out, filters[2] * filters[3])
    call.require(
        grad.shape == needed,
        "out_backprop must have the shape of the convolution's output",
        found=f"{list(grad.shape)} (channels last)",
        needed=list(needed),
    )
    return widen(grad).reshape(*grad.shape[:3], filters[2], filters[3])


def _dims(call: Call, sizes: Array) -> tuple[int, ...]:
    call.require(sizes.shape == (4,), "sizes must hold 4 dims", found=list(sizes.shape), needed=[4])
    return check_size(call, sizes.tolist(), np.dtype(np.float32))


@kernel("DepthwiseConv2dNativeBackpropInput")
@quiet
def backprop_input(call: Call, sizes: Array, filters: Array, dy: Array) -> Array:
    """The gradient for the input, of shape ``sizes``; TF ``DepthwiseConv2dNativeBackpropInput``."""
    shape, layout = _dims(call, sizes), call.attrs["data_format"]
    first = layout.startswith("NC")
    spatial, channels = (shape[2:], shape[1]) if first else (shape[1:-1], shape[-1])
    window = _plan(call, spatial, channels, filters.shape)
    grad = _gradient(call, dy, window, filters.shape, shape[0])
    weights = widen(filters)
    total = np.zeros((shape[0], *window.padded, channels), grad.dtype)
    for index, tap in window.each_tap(total):
        tap += (grad * weights[index]).sum(-1)
    return from_channels_last(window.crop(total).astype(dy.dtype), layout)


@kernel("DepthwiseConv2dNativeBackpropFilter")
@quiet
def backprop_filter(call: Call, x: Array, sizes: Array, dy: Array) -> Array:
    """The gradient for the filter, shaped ``sizes``; TF ``DepthwiseConv2dNativeBackpropFilter``."""
    shape = _dims(call, sizes)
    source = widen(channels_last(x, call.attrs["data_format"]))
    window = _plan(call, source.shape[1:-1], source.shape[-1], shape)
    grad = _gradient(call, dy, window, shape, x.shape[0])
    out = np.empty(shape, grad.dtype)
    for index, tap in window.each_tap(window.pad(source)):
        out[index] = (tap[..., None] * grad).sum((0, 1, 2))
    return out.astype(dy.dtype, copy=False)
