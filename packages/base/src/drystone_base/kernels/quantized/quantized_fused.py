"""Convolutions of quantized images with bias, sum, Relu and requantization in one.

Source: TensorFlow ops QuantizedConv2D* and QuantizedDepthwiseConv2D* over signed filters, which it
runs by oneDNN. The integer 0 stands for 0.0, and a range for its larger end both ways. With a range
for each filter and an int32 output every filter keeps its own steps, as the outputs' ranges say.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.nn._windows import window_of
from drystone_base.kernels.nn.convolution import convolve
from drystone_base.kernels.quantized._quantized import bounds, ranges, scalar_float

__all__ = ["fused"]

_FORMS: Final = (
    "QuantizedConv2DAndRelu",
    "QuantizedConv2DAndReluAndRequantize",
    "QuantizedConv2DAndRequantize",
    "QuantizedConv2DPerChannel",
    "QuantizedConv2DWithBias",
    "QuantizedConv2DWithBiasAndRelu",
    "QuantizedConv2DWithBiasAndReluAndRequantize",
    "QuantizedConv2DWithBiasAndRequantize",
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
    "QuantizedConv2DWithBiasSumAndRelu",
    "QuantizedConv2DWithBiasSumAndReluAndRequantize",
    "QuantizedDepthwiseConv2D",
    "QuantizedDepthwiseConv2DWithBias",
    "QuantizedDepthwiseConv2DWithBiasAndRelu",
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
)


def _sums(call: Call, x: Array, filters: Array) -> Array:
    """The convolution of the integers, exact in float64."""
    deep = "Depthwise" in call.op
    call.require(
        x.ndim == filters.ndim == 4 and x.shape[3] == filters.shape[2],
        "images and filters must have 4 dimensions and the same depth",
        found=f"{list(x.shape)} and {list(filters.shape)}",
        needed="[N, H, W, C] and [h, w, C, D]",
    )
    given = filters.astype(np.float64)
    if deep:
        given = given.reshape(*given.shape[:2], 1, -1)
    attrs = dict(call.attrs)
    pads = list(attrs.get("padding_list") or [])
    if attrs["padding"] == "EXPLICIT":
        attrs["explicit_paddings"] = pads
    inner = Call(call.node, call.op, attrs, call.runtime)
    return convolve(x.astype(np.float64), given, window_of(inner, x.shape[1:3], given.shape[:2]))


def _magnitude(low: Array, high: Array) -> Array:
    return np.maximum(np.abs(low), np.abs(high))


def _level(low: Array, high: Array, dtype: np.dtype[Any]) -> Array:
    """What one step stands for; signed types are symmetric here."""
    steps = 255 if dtype == np.uint8 else 254
    return (high - low) / np.float32(steps)


@kernel(*_FORMS)
@quiet
def fused(call: Call, x: Array, filters: Array, *rest: Array) -> tuple[Any, ...]:
    """Sums, then bias, then the sum with another tensor, then Relu, rounded once at the end."""
    args = list(rest)
    bias = args.pop(0) if "WithBias" in call.op else None
    low, high = ranges(call, *args[:2])[0]
    filter_low, filter_high = args[2:4]
    total = _sums(call, x, filters)
    count = total.shape[-1]
    call.require(
        filter_low.shape == filter_high.shape and filter_low.shape in ((), (count,)),
        "there must be one range for all filters, or one for each",
        found=f"{list(filter_low.shape)} and {list(filter_high.shape)}",
        needed=f"[] or [{count}]",
    )
    limit = np.float32((255 if x.dtype == np.uint8 else 127) * 127)
    reach = _magnitude(np.asarray(low), np.asarray(high)) * _magnitude(filter_low, filter_high)
    per_unit = (limit / reach).astype(np.float32)
    if bias is not None:
        total = total + _scaled_bias(call, bias, per_unit, count)
    dtype = call.attrs["out_type"].np
    if dtype == np.int32:
        if "Sum" in call.op:
            total = total + np.rint(args[4] * per_unit)
        out = _finished(call, total, dtype)
        unit = _level(np.asarray(low), np.asarray(high), x.dtype) * _level(
            filter_low, filter_high, np.dtype(np.int8)
        )
        return out, *(np.asarray(unit * np.float32(b), np.float32) for b in bounds(dtype))
    first = scalar_float(call, args[4], "min_freezed_output")
    last = scalar_float(call, args[5], "max_freezed_output")
    span = np.float32(max(abs(first), abs(last)))
    top = np.float32(bounds(dtype)[1])
    scale = (top * reach / (limit * span)).astype(np.float32)
    wide = total.astype(np.float32) * scale
    if "Sum" in call.op:
        wide = wide + _summand(call, args[6:], span)
    return _finished(call, wide, dtype), first, last


def _scaled_bias(call: Call, bias: Array, per_unit: Array, count: int) -> Array:
    call.require(
        bias.shape == (count,), "there must be one bias for each filter", found=list(bias.shape),
        needed=[count],
    )  # fmt: skip
    return np.asarray(bias * per_unit if bias.dtype == np.float32 else bias)


def _summand(call: Call, args: list[Array], span: np.float32) -> Array:
    """The other tensor in the output's steps."""
    summand, *ends = args
    ((low, high),) = ranges(call, *ends)
    own = np.float32(max(abs(low), abs(high)))
    factor = own / span
    if summand.dtype == np.int8:
        factor = np.float32(255) * own / (span * np.float32(127))
    return np.asarray(summand.astype(np.float32) * np.float32(factor))


def _finished(call: Call, x: Array, dtype: np.dtype[Any]) -> Array:
    """Relu where the op says so, then whole numbers within the type."""
    out = np.maximum(x, 0) if "Relu" in call.op else x
    return np.asarray(np.clip(np.rint(out), *bounds(dtype)).astype(dtype))
