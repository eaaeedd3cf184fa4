"""Layers of integers that stand on a grid of floats, and the way to it and back; our own ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.nn.convolution import conv
from drystone_base.kernels.nn.depthwise import depthwise_conv
from drystone_base.kernels.nn.fused import finish
from drystone_base.ops.own import FROM_GRID, QUANTIZED_LAYER, TO_GRID

__all__: list[str] = []


@kernel(TO_GRID)
@quiet
def to_grid(call: Call, x: Array) -> Array:
    """Integers of the node's grid, the nearest to each float; our own op."""
    return _on_grid(call, x, call.attrs["T"].np, half_up=call.attrs["half_up"])


def _on_grid(call: Call, x: Array, dtype: np.dtype[Any], *, half_up: bool) -> Array:
    attrs, info = call.attrs, np.iinfo(dtype)
    first, last = max(attrs["first"], int(info.min)), min(attrs["last"], int(info.max))
    scale, zero = np.float32(attrs["scale"]), attrs["zero"]
    call.require(
        scale > 0 and first <= zero <= last,
        "a grid must have a step above zero, and zero in it",
        found=f"scale {scale}, zero {zero} in {first} to {last}",
        needed="scale > 0, first <= zero <= last",
    )
    steps = np.asarray(x, np.float32) * (np.float32(1) / scale)
    whole = np.floor(steps + np.float32(0.5)) if half_up else np.rint(steps)
    inside = np.where(np.isnan(whole), first, np.clip(whole + zero, first, last))
    return np.asarray(inside).astype(dtype)


@kernel(FROM_GRID)
def from_grid(call: Call, x: Array) -> Array:
    """The floats that integers of the node's grid stand for; our own op."""
    whole = x.astype(np.float32) - np.float32(call.attrs["zero"])
    return np.asarray(whole * np.float32(call.attrs["scale"]))


@kernel(QUANTIZED_LAYER)
@quiet
def quantized_layer(call: Call, x: Array, filters: Array, scales: Array, *args: Array) -> Array:
    """A product or convolution of integers, and what ``fused_ops`` names; our own op.

    Sums are exact: products of bytes in float64.
    """
    layer, attrs = call.attrs["layer"], call.attrs
    whole, weights = x.astype(np.float64) - attrs["x_zero"], filters.astype(np.float64)
    if layer == "MatMul":
        call.require(
            x.ndim >= 2 and filters.ndim == 2 and x.shape[-1] == filters.shape[0],
            "the filter must be a matrix with a row for each element of the input's rows",
            found=f"{list(x.shape)} and {list(filters.shape)}",
            needed="[..., k] and [k, n]",
        )
        sums = whole @ weights
    else:
        sums = (conv if layer == "Conv2D" else depthwise_conv)(call, whole, weights)
    first = layer != "MatMul" and attrs["data_format"].startswith("NC")
    channels = sums.shape[1 if first else -1]
    call.require(
        scales.shape == (channels,),
        "there must be a scale for each channel",
        found=list(scales.shape),
        needed=[channels],
    )
    along = scales.reshape(-1, *[1] * (sums.ndim - 2)) if first else scales
    y = finish(call, sums.astype(np.float32) * along, args)
    return y if attrs["Tout"].is_floating else _on_grid(call, y, attrs["Tout"].np, half_up=False)
