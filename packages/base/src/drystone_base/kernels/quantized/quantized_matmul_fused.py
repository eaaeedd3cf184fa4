"""Products of quantized matrices with bias, Relu and requantization in one.

Source: TensorFlow ops QuantizedMatMulWithBias*, which it runs by oneDNN: the left side unsigned, in
mode MIN_FIRST from its range's lower end up, in mode SCALED with 0 for 0.0; weights signed.
TensorFlow 2.21 scales the share of a lower end other than 0.0 twice; we do so once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.quantized._quantized import bounds, ranges

__all__: list[str] = []


@kernel(
    "QuantizedMatMulWithBias",
    "QuantizedMatMulWithBiasAndDequantize",
    "QuantizedMatMulWithBiasAndRelu",
    "QuantizedMatMulWithBiasAndReluAndRequantize",
    "QuantizedMatMulWithBiasAndRequantize",
)
@quiet
def matmul_with_bias(call: Call, a: Array, b: Array, bias: Array, *ends: Array) -> Any:
    """The product, then the bias, then Relu, rounded once at the end."""
    attrs = call.attrs
    of_a, of_b, *end = ranges(call, *ends)
    call.require(a.ndim == b.ndim == 2, "both inputs must be matrices", found=[a.ndim, b.ndim])
    left = a.T if attrs["transpose_a"] else a
    right = b.T if attrs["transpose_b"] else b
    call.require(
        left.shape[1] == right.shape[0] and bias.shape == (right.shape[1],),
        "the sides of a product and the bias must fit",
        found=f"{list(left.shape)} times {list(right.shape)}, bias {list(bias.shape)}",
        needed="[m, k] times [k, n], bias [n]",
    )
    first = attrs["input_quant_mode"] == "MIN_FIRST"
    reach = of_a[1] - of_a[0] if first else max(abs(of_a[0]), abs(of_a[1]))
    step = np.float32(reach / np.float32(255))
    weight_step = np.float32(max(abs(of_b[0]), abs(of_b[1])) / np.float32(127))
    unit = np.float32(step * weight_step)
    whole = right.astype(np.float64)
    sums = left.astype(np.float64) @ whole
    if bias.dtype == np.int32:
        sums = sums + bias
    else:
        more = bias + (of_a[0] * weight_step * whole.sum(0) if first else 0)
        sums = sums + np.asarray(more, np.float32) / step / weight_step
    if "Relu" in call.op:
        sums = np.maximum(sums, 0)
    dtype = attrs["Toutput"].np
    if dtype == np.float32:
        return (sums * unit).astype(np.float32)
    if dtype == np.int32:
        level = np.float32((of_a[1] - of_a[0]) / np.float32(255))
        other = np.float32((of_b[1] - of_b[0]) / np.float32(254))
        low, high = (np.float32(level * other * np.float32(v)) for v in bounds(dtype))
    else:
        low, high = end[0]
        sums = sums * (float(unit) / (float(max(abs(low), abs(high))) / bounds(dtype)[1]))
    return np.clip(np.rint(sums), *bounds(dtype)).astype(dtype), low, high
