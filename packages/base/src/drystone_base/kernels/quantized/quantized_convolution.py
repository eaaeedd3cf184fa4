"""Convolution of quantized images: 8 bits in, 32 bits and their range out."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.nn._windows import window_of
from drystone_base.kernels.nn.convolution import convolve
from drystone_base.kernels.quantized._quantized import (
    from_float_unclamped,
    product_range,
    ranges,
    wrap_int32,
)
from drystone_base.kernels.quantized.quantized_fused import fused

__all__: list[str] = []


@kernel("QuantizedConv2D")
@quiet
def quantized_conv2d(call: Call, x: Array, filters: Array, *ends: Array) -> tuple[Any, ...]:
    """Sums of products of the steps above zero; padding stands for 0.0; TF ``QuantizedConv2D``.

    Signed filters are those of the fused ops, where the integer 0 stands for 0.0.
    """
    if filters.dtype == np.int8:
        out: tuple[Any, ...] = fused(call, x, filters, *ends)
        return out
    of_x, of_filters = ranges(call, *ends)
    call.require(
        x.ndim == filters.ndim == 4 and x.shape[3] == filters.shape[2],
        "images and filters must have 4 dimensions and the same depth",
        found=f"{list(x.shape)} and {list(filters.shape)}",
        needed="[N, H, W, C] and [h, w, C, D]",
    )
    strides = call.attrs["strides"]
    call.require(
        len(strides) == 4 and strides[1] == strides[2],
        "strides must be equal in both directions",
        found=list(strides),
        needed="[1, s, s, 1]",
    )
    window = window_of(call, x.shape[1:3], filters.shape[:2])
    zeros = [
        int(from_float_unclamped(np.float32(0), *given, v.dtype).astype(np.int32))
        for given, v in ((of_x, x), (of_filters, filters))
    ]
    # The padding is the integer for 0.0 as 8 bits hold it: another one if 0.0 is out of range.
    fill = np.asarray(zeros[0]).astype(x.dtype)
    padded = window.pad(x, fill).astype(np.float64) - zeros[0]
    bare = type(window)(
        window.padded, window.size, window.strides, window.dilations, (0, 0), (0, 0), window.out
    )
    sums = convolve(padded, filters.astype(np.float64) - zeros[1], bare)
    return wrap_int32(sums), *product_range(of_x, of_filters, (x.dtype, filters.dtype))
