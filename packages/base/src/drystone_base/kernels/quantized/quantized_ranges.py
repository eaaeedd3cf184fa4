"""Ranges of quantized tensors: finding them, and moving integers from one into another."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.quantized._quantized import (
    bounds,
    ranges,
    requantize,
    scalar_float,
    to_float,
)

__all__: list[str] = []

Number: TypeAlias = np.float32


def _used(call: Call, x: Array, low: Array, high: Array) -> tuple[Number, Number]:
    """What the least and the greatest integer present stand for; the least is at most 0."""
    ((first, last),) = ranges(call, low, high)
    least, most = bounds(x.dtype)
    ends = np.array([x.min(initial=most), x.max(initial=least)], x.dtype)
    lowest, highest = to_float(ends, first, last)
    return min(np.float32(0), lowest), highest


@kernel("RequantizationRange")
@quiet
def requantization_range(call: Call, x: Array, low: Array, high: Array) -> tuple[Number, Number]:
    """The range that the integers present really use; TF ``RequantizationRange``."""
    return _used(call, x, low, high)


@kernel("QuantizeDownAndShrinkRange")
@quiet
def quantize_down(call: Call, x: Array, low: Array, high: Array) -> tuple[Any, ...]:
    """8-bit integers over the range that is really used; TF ``QuantizeDownAndShrinkRange``."""
    given = ranges(call, low, high)
    used = _used(call, x, low, high)
    return requantize(x, given[0], used, call.attrs["out_type"].np), *used


@kernel("Requantize")
@quiet
def requantize_op(
    call: Call, x: Array, low: Array, high: Array, new_low: Array, new_high: Array
) -> tuple[Any, ...]:
    """Integers of one range as integers of the requested one; TF ``Requantize``."""
    old, new = ranges(call, low, high, new_low, new_high)
    call.require(
        new[0] <= 0 and new[0] <= new[1],
        "the requested range must begin at 0 or below, and not end before it begins",
        found=f"{new[0]} to {new[1]}",
        needed="min <= 0, min <= max",
    )
    return requantize(x, old, new, call.attrs["out_type"].np), *new


def _channels(call: Call, x: Array, low: Array, high: Array) -> Array:
    """The largest magnitude of each channel's range, float32."""
    call.require(
        x.ndim == 4 and x.size, "the input must be a batch of images", found=list(x.shape),
        needed="[N, H, W, C], not empty",
    )  # fmt: skip
    call.require(
        low.shape == high.shape == x.shape[-1:],
        "there must be one range for each channel",
        found=f"{list(low.shape)} and {list(high.shape)}",
        needed=list(x.shape[-1:]),
    )
    return np.maximum(np.abs(low), np.abs(high))


@kernel("RequantizationRangePerChannel")
@quiet
def range_per_channel(call: Call, x: Array, low: Array, high: Array) -> tuple[Number, Number]:
    """The symmetric range that all channels use, cut at ``clip_value_max``.

    TF ``RequantizationRangePerChannel``.
    """
    scales = _channels(call, x, low, high)
    flat = x.reshape(-1, x.shape[-1]).astype(np.int64)
    largest = np.abs(flat).max(0).astype(np.int32).astype(np.float32)
    used = scales * largest / np.float32(1 << 31)
    top = max(np.finfo(np.float32).tiny, np.float32(used.max()))
    top = min(top, np.float32(call.attrs["clip_value_max"]))
    return (np.float32(0) if flat.min() >= 0 else np.float32(-top)), np.float32(top)


@kernel("RequantizePerChannel")
@quiet
def requantize_per_channel(
    call: Call, x: Array, low: Array, high: Array, new_low: Array, new_high: Array
) -> tuple[Any, ...]:
    """int32 with a range for each channel as 8 bits with one range; TF ``RequantizePerChannel``."""
    scales = _channels(call, x, low, high)
    first = scalar_float(call, new_low, "requested_output_min")
    last = scalar_float(call, new_high, "requested_output_max")
    dtype = call.attrs["out_type"].np
    call.require(
        dtype == np.uint8 or first < 0,
        "a signed output needs a range below 0",
        found=first,
        needed="requested_output_min < 0",
    )
    factor = np.float32(bounds(dtype)[1])
    unit = factor * (scales / max(abs(first), abs(last)) / np.float32(1 << 31))
    steps = np.rint(x.astype(np.float32) * unit.astype(np.float32))
    return np.clip(steps, *bounds(dtype)).astype(dtype), first, last
