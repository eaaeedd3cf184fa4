"""Convolutions, and those that treat each channel by itself."""

from __future__ import annotations

from drystone_pjrt.stablehlo.layouts import Pads, channel_axis, pads, spatial, spatial_axes
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.products import HIGHEST
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer, integers

__all__: list[str] = []


@emits("Conv2D", "Conv3D")
def convolution(w: Writer, s: Site) -> Value:
    """Filters over places; channels may be in groups."""
    x, kernel = s.inputs
    channels, depth = x.shape[channel_axis(s)], kernel.shape[-2]
    if not depth or channels % depth:
        raise Refused(f"its {channels} channels are for filters of {depth}")
    return _convolved(w, s, kernel, channels // depth)


@emits("DepthwiseConv2dNative")
def depthwise(w: Writer, s: Site) -> Value:
    """Filters for each channel by itself."""
    height, width, depth, times = s.inputs[1].shape
    kernel = w.reshape(s.inputs[1], (height, width, 1, depth * times))
    return _convolved(w, s, kernel, depth)


def _convolved(w: Writer, s: Site, kernel: Value, groups: int) -> Value:
    """``kernel``: places, input channels of a group, output channels."""
    x, axes, channel = s.inputs[0], spatial_axes(s), channel_axis(s)
    window, strides = kernel.shape[:-2], spatial(s, "strides")
    spread = spatial(s, "dilations")
    around = pads(s, window, strides, spread)
    shape = list(x.shape)
    shape[channel] = kernel.shape[-1]
    for k, axis in enumerate(axes):
        room = x.shape[axis] + sum(around[k]) - (window[k] - 1) * spread[k] - 1
        shape[axis] = room // strides[k] + 1 if room >= 0 else 0
    if 0 in (*x.shape, *kernel.shape, *shape):
        raise Refused("it has no elements")
    attrs = (
        f"window_strides = {integers(strides)}, padding = {rows(around)}, "
        f"rhs_dilation = {integers(spread)}, feature_group_count = {groups} : i64, "
        f"batch_group_count = 1 : i64, dimension_numbers = {_numbers(len(x.shape), channel)}, "
        f"{HIGHEST}"
    )
    return w.op("stablehlo.convolution", [x, kernel], tuple(shape), attrs=attrs)


def rows(around: Pads) -> str:
    """What is padded, as an attribute."""
    text = ", ".join(f"[{low}, {high}]" for low, high in around)
    return f"dense<[{text}]> : tensor<{len(around)}x2xi64>"


def _numbers(rank: int, channel: int) -> str:
    """Which dimension is which."""
    places = [str(k) for k in range(rank - 2)]
    image = ["b", *places]
    image.insert(channel, "f")
    layout, kernel = ", ".join(image), ", ".join([*places, "i", "o"])
    return f"#stablehlo.conv<[{layout}]x[{kernel}]->[{layout}]>"
