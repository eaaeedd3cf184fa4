"""Layers over quantized tensors: pooling, activations, normalization, joining, resizing."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.array.joining import concatenate
from drystone_base.kernels.array.shape_ops import reshape
from drystone_base.kernels.image.image import positions
from drystone_base.kernels.nn.pooling import max_pool, pool_window, sum_of_windows
from drystone_base.kernels.quantized._quantized import (
    from_float,
    many_from_float,
    many_to_float,
    ranges,
    scalar_float,
    to_float,
    wrap_int32,
)

__all__: list[str] = []


@kernel("QuantizedRelu", "QuantizedRelu6", "QuantizedReluX")
@quiet
def quantized_relu(call: Call, x: Array, *ends: Array) -> tuple[Any, ...]:
    """The integers cut at those that stand for 0 and for the top (6, or an input)."""
    top = np.float32(6)
    if call.op == "QuantizedReluX":
        top, ends = scalar_float(call, ends[0], "max_value"), ends[1:]
    ((low, high),) = ranges(call, *ends)
    out = np.maximum(x, from_float(np.float32(0), low, high, x.dtype))
    if call.op != "QuantizedRelu":
        out = np.minimum(out, from_float(top, low, high, x.dtype))
    return out, low, high


@kernel("QuantizedMaxPool")
def quantized_max_pool(call: Call, x: Array, low: Array, high: Array) -> tuple[Any, ...]:
    """The greatest integer of each window; TF ``QuantizedMaxPool``."""
    given = ranges(call, low, high)
    return max_pool(call, x), *given[0]


@kernel("QuantizedAvgPool")
def quantized_avg_pool(call: Call, x: Array, low: Array, high: Array) -> tuple[Any, ...]:
    """The mean of each window's integers, cut to a whole number; TF ``QuantizedAvgPool``."""
    given = ranges(call, low, high)
    call.require(x.ndim == 4, "the input's rank must fit", found=list(x.shape), needed="rank 4")
    window = pool_window(call, x.shape[1:-1])
    total = sum_of_windows(window, window.pad(x.astype(np.float64)))
    return np.trunc(total / window.coverage()).astype(x.dtype), *given[0]


@kernel("QuantizedReshape")
def quantized_reshape(call: Call, x: Array, shape: Array, *ends: Array) -> tuple[Any, ...]:
    """The integers under another shape, with the range; TF ``QuantizedReshape``."""
    given = ranges(call, *ends)
    return reshape(call, x, shape), *given[0]


@kernel("QuantizedConcat", "QuantizedConcatV2")
@quiet
def quantized_concat(call: Call, *args: Array) -> tuple[Any, ...]:
    """Tensors joined, their integers moved into a range that holds all; TF ``QuantizedConcat``.

    The dimension comes first, in V2 after the tensors.
    """
    count = len(args) // 3
    if call.op == "QuantizedConcat":
        axis, parts, ends = args[0], args[1 : count + 1], args[count + 1 :]
    else:
        parts, axis, ends = args[:count], args[count], args[count + 1 :]
    lows = [scalar_float(call, v, "a range's min") for v in ends[:count]]
    highs = [scalar_float(call, v, "a range's max") for v in ends[count:]]
    low, high = min(lows), max(highs)
    if parts[0].dtype.kind == "i":
        high = max(abs(low), abs(high))
        low = np.float32(-high)
    moved = [
        x if (a, b) == (low, high) else many_from_float(many_to_float(x, a, b), low, high, x.dtype)
        for x, a, b in zip(parts, lows, highs, strict=True)
    ]
    call.require(
        axis.ndim == 0 and (0 <= int(axis) < max(parts[0].ndim, 1)),
        "the joined dimension must be one of the tensors'",
        found=axis.tolist(),
        needed=f"0 to {parts[0].ndim - 1}",
    )
    return concatenate(call, tuple(moved), int(axis)), low, high


@kernel("QuantizedInstanceNorm")
@quiet
def quantized_instance_norm(call: Call, x: Array, low: Array, high: Array) -> tuple[Any, ...]:
    """Every channel of every image with mean 0 and variance 1; TF ``QuantizedInstanceNorm``."""
    attrs = call.attrs
    first, last = np.float32(attrs["given_y_min"]), np.float32(attrs["given_y_max"])
    call.require(
        not attrs["output_range_given"] or first < last,
        "given_y_min must be less than given_y_max",
        found=f"{first} and {last}",
        needed="min < max",
    )
    ((least, most),) = ranges(call, low, high, ordered=True)
    call.require(x.ndim == 4, "the input's rank must fit", found=list(x.shape), needed="rank 4")
    scale = np.float32(np.float32(most - least) / np.float32(255))
    wide = x.astype(np.float32)
    spread = scale * (wide - wide.mean((1, 2), keepdims=True, dtype=np.float32))
    variance = np.square(spread).mean((1, 2), keepdims=True, dtype=np.float32)
    normed = spread * (1 / np.sqrt(variance + np.float32(attrs["variance_epsilon"])))
    if not attrs["output_range_given"]:
        call.require(x.size, "the input must not be empty", found=list(x.shape))
        first, last = normed.min(), normed.max()
    if last - first < np.float32(attrs["min_separation"]):
        last = np.float32(first + np.float32(attrs["min_separation"]))
    return many_from_float(normed, first, last, x.dtype), first, last


@kernel("QuantizedBatchNormWithGlobalNormalization")
@quiet
def quantized_batch_norm(call: Call, x: Array, *rest: Array) -> tuple[Any, ...]:
    """Batch normalization in fixed point, in a range of one million either way.

    TF ``QuantizedBatchNormWithGlobalNormalization``.
    """
    vectors = rest[2::3]
    ends = [v for k, v in enumerate(rest) if k % 3 != 2]
    spans = ranges(call, *ends)
    call.require(
        x.ndim == 4 and x.shape[3] > 1 and all(v.shape == x.shape[-1:] for v in vectors),
        "mean, variance, beta and gamma must be vectors as long as the channels of 4-D images",
        found=f"{list(x.shape)} with {[list(v.shape) for v in vectors]}",
        needed="[N, H, W, C] with [C], C > 1",
    )
    mean, variance, beta, gamma = (
        to_float(v, *span) for v, span in zip(vectors, spans[1:], strict=True)
    )
    scale = np.float32(1) / np.sqrt(variance + np.float32(call.attrs["variance_epsilon"]))
    if call.attrs["scale_after_normalization"]:
        scale = scale * gamma
    new = (np.float32(-(1 << 20)), np.float32(1 << 20))
    dtype = np.dtype(np.int32)
    factor, offset = (from_float(v, *new, dtype) for v in (scale, -mean * scale + beta))
    one = int(from_float(np.float32(1), *new, dtype))
    product = wrap_int32(
        from_float(to_float(x, *spans[0]), *new, dtype).astype(np.int64) * factor
    ).astype(np.int64)
    whole = np.sign(product) * (np.abs(product) // one) if one else product
    return wrap_int32(whole + offset), *new


@kernel("QuantizedResizeBilinear")
@quiet
def quantized_resize(call: Call, x: Array, size: Array, low: Array, high: Array) -> tuple[Any, ...]:
    """Bilinear resizing; 8 bits with weights of 7 bits; TF ``QuantizedResizeBilinear``."""
    given = ranges(call, low, high)
    call.require(
        x.ndim == 4 and size.shape == (2,) and x.size and size.min() > 0,
        "images must be [N, H, W, C] and the new size two positive numbers",
        found=f"{list(x.shape)} to {size.tolist()}",
        needed="4 dimensions, 2 numbers",
    )
    rows, columns = (int(n) for n in size)
    if (rows, columns) == x.shape[1:3]:
        return x, *given[0]
    wide = np.dtype(np.int64)
    check_size(call, (x.shape[0], max(rows, x.shape[1]), columns, x.shape[3]), wide)
    check_size(call, (rows,), wide)
    above, below, down = _neighbours(call, x.shape[1], rows)
    left, right, across = _neighbours(call, x.shape[2], columns)
    corners = [x[:, v][:, :, h] for v in (above, below) for h in (left, right)]
    across, down = across[:, None], down[:, None, None]
    if x.dtype == np.float32:
        top, bottom = (a + (b - a) * across for a, b in (corners[:2], corners[2:]))
        return np.asarray(top + (bottom - top) * down), *given[0]
    return _fixed_blend(corners, across, down, x.dtype), *given[0]


def _neighbours(call: Call, size: int, out: int) -> tuple[Array, Array, Array]:
    """The two pixels that each output pixel lies between along an axis, and where; float32."""
    place = positions(call, size, out)
    floor = np.floor(place)
    high = np.minimum(np.ceil(place).astype(np.int64), size - 1)
    low = np.minimum(np.maximum(floor.astype(np.int64), 0), high)
    return low, high, place - floor


def _fixed_blend(corners: list[Array], across: Array, down: Array, dtype: np.dtype[Any]) -> Array:
    """Weighted corners: 8 bits with weights and sums of 16, 32 bits with rows rounded to float32.

    Above 2^24 TensorFlow's last digits for 32 bits differ from ours: float32 does not hold them.
    """
    kind, bits = (np.dtype(np.int16), 7) if dtype.itemsize == 1 else (np.dtype(np.float32), 30)
    one = 1 << bits
    x, y = (np.trunc(v * np.float32(one)).astype(np.int64) for v in (across, down))
    a, b, c, d = (v.astype(np.int64) for v in corners)
    top, bottom = (
        (p * one + (q - p) * x).astype(kind).astype(np.int64) for p, q in ((a, b), (c, d))
    )
    mixed = top + _toward_zero(bottom - top, one) * y
    if bits == 7:
        mixed = mixed.astype(kind).astype(np.int64)
    return _toward_zero(mixed + one // 2, one).astype(dtype)


def _toward_zero(x: Array, divisor: int) -> Array:
    return np.asarray(np.sign(x) * (np.abs(x) // divisor))
