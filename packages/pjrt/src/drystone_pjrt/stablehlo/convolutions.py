"""Convolutions, and those that treat each channel by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as product_of
from typing import Final

from drystone_pjrt.stablehlo.layouts import Pads, channel_axis, pads, spatial, spatial_axes
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.products import HIGHEST
from drystone_pjrt.stablehlo.reductions import widened
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer, integers

__all__ = ["Places", "rows"]

_FEW_TAPS: Final = 25
"""Places of the largest window that is written as shifted products."""


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
    """Filters for each channel by itself.

    Small ones are sums of products with the shifted input, which compilers make one loop of; some
    have no quick way for groups of one channel.
    """
    height, width, depth, times = s.inputs[1].shape
    if times == 1 and height * width <= _FEW_TAPS:
        return _shifted(w, s, w.reshape(s.inputs[1], (height, width, depth)))
    kernel = w.reshape(s.inputs[1], (height, width, 1, depth * times))
    return _convolved(w, s, kernel, depth)


class Places:
    """What a window of given sizes goes over: steps, what is added, and how often it fits."""

    def __init__(self, s: Site, window: Sequence[int], out: int) -> None:
        x, self.axes, self.channel = s.inputs[0], spatial_axes(s), channel_axis(s)
        self.strides, self.spread = spatial(s, "strides"), spatial(s, "dilations")
        self.pads = pads(s, window, self.strides, self.spread)
        shape = list(x.shape)
        shape[self.channel] = out
        for k, axis in enumerate(self.axes):
            room = x.shape[axis] + sum(self.pads[k]) - (window[k] - 1) * self.spread[k] - 1
            shape[axis] = room // self.strides[k] + 1 if room >= 0 else 0
        if 0 in (*x.shape, *window, *shape):
            raise Refused("it has no elements")
        self.shape = tuple(shape)


def _shifted(w: Writer, s: Site, kernel: Value) -> Value:
    """``kernel``: places and channels. For each place, the input there times its factors."""
    at, given = Places(s, kernel.shape[:2], kernel.shape[2]), s.inputs[0]
    around = [(0, 0)] * len(given.shape)
    for k, axis in enumerate(at.axes):
        around[axis] = at.pads[k]
    wide = widened(w, given)
    x, total = w.pad(wide, w.scalar(0, wide.dtype), around), None
    for place in product_of(range(kernel.shape[0]), range(kernel.shape[1])):
        low, high, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
        for k, axis in enumerate(at.axes):
            low[axis], steps[axis] = place[k] * at.spread[k], at.strides[k]
            high[axis] = low[axis] + (at.shape[axis] - 1) * steps[axis] + 1
        factors = w.slice(kernel, [*place, 0], [place[0] + 1, place[1] + 1, kernel.shape[2]])
        spread = w.reshape(widened(w, factors), (kernel.shape[2],))
        part = w.same(
            "stablehlo.multiply",
            w.slice(x, low, high, steps),
            w.broadcast(spread, at.shape, [at.channel]),
        )
        total = part if total is None else w.same("stablehlo.add", total, part)
    assert total is not None
    return w.convert(total, given.dtype)


def _convolved(w: Writer, s: Site, kernel: Value, groups: int) -> Value:
    """``kernel``: places, input channels of a group, output channels."""
    x, at = s.inputs[0], Places(s, kernel.shape[:-2], kernel.shape[-1])
    if not kernel.shape[-2]:
        raise Refused("it has no elements")
    attrs = (
        f"window_strides = {integers(at.strides)}, padding = {rows(at.pads)}, "
        f"rhs_dilation = {integers(at.spread)}, feature_group_count = {groups} : i64, "
        f"batch_group_count = 1 : i64, dimension_numbers = {_numbers(len(x.shape), at.channel)}, "
        f"{HIGHEST}"
    )
    return w.op("stablehlo.convolution", [x, kernel], at.shape, attrs=attrs)


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
