"""Sums and products of quantized tensors: 8 bits in, 32 bits and their range out."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.quantized._quantized import (
    exact_product,
    from_float,
    from_float_unclamped,
    many_from_float,
    many_to_float,
    product_range,
    ranges,
    to_float,
    wrap_int32,
)

__all__: list[str] = []

Range: TypeAlias = tuple[np.float32, np.float32]


def _check_broadcast(call: Call, x: Array, y: Array) -> None:
    pairs = zip(reversed(x.shape), reversed(y.shape), strict=False)
    call.require(
        all(a == b or 1 in (a, b) for a, b in pairs),
        "shapes must broadcast",
        found=f"{list(x.shape)} and {list(y.shape)}",
        needed="equal dimensions, or 1",
    )


def _in_range(x: Array, old: Range, new: Range) -> np.ndarray[Any, np.dtype[np.int64]]:
    """int32 steps of ``new`` by a straight line through the places of the integers 0 and 1."""
    ends = to_float(np.array([0, 1], x.dtype), *old)
    start, second = from_float_unclamped(ends, *new, np.dtype(np.int32)).tolist()
    step = np.array(second - start).astype(np.int32)
    return np.asarray(np.clip(start + x.astype(np.int64) * int(step), -(2**31), 2**31 - 1))


def _one_in_range(x: Array, old: Range, new: Range) -> np.ndarray[Any, np.dtype[np.int64]]:
    return from_float(to_float(x, *old), *new, np.dtype(np.int32)).astype(np.int64)


@kernel("QuantizedAdd")
@quiet
def quantized_add(call: Call, x: Array, y: Array, *ends: Array) -> tuple[Any, ...]:
    """Sums in a range symmetric around zero with room to spare; TF ``QuantizedAdd``."""
    of_x, of_y = ranges(call, *ends, ordered=True)
    _check_broadcast(call, x, y)
    call.require(x.size and y.size, "there must be elements to add", found="none")
    largest = max(abs(min(of_x[0], of_y[0])), abs(max(of_x[1], of_y[1])))
    top = np.float32(largest * np.float32(1 << 14))
    new = (np.float32(-top), top)
    single_x = x.size == 1
    single_y = y.size == 1 and not single_x
    left = (_one_in_range if single_x else _in_range)(x, of_x, new)
    right = (_one_in_range if single_y else _in_range)(y, of_y, new)
    return wrap_int32(left + right), *new


@kernel("QuantizedMul")
@quiet
def quantized_mul(call: Call, x: Array, y: Array, *ends: Array) -> tuple[Any, ...]:
    """Products of the steps above zero; TF ``QuantizedMul``."""
    of_x, of_y = ranges(call, *ends, ordered=True)
    _check_broadcast(call, x, y)
    return wrap_int32(_centred(x, of_x) * _centred(y, of_y)), *product_range(
        of_x, of_y, (x.dtype, y.dtype)
    )


def _centred(x: Array, given: Range) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The integers, counted from the one that stands for 0.0."""
    zero = from_float_unclamped(np.float32(0), *given, x.dtype)
    return x.astype(np.int64) - int(zero.astype(np.int32))


@kernel("QuantizedMatMul")
@quiet
def quantized_matmul(call: Call, a: Array, b: Array, *ends: Array) -> tuple[Any, ...]:
    """A matrix product of the steps above zero; TF ``QuantizedMatMul``."""
    of_a, of_b = ranges(call, *ends, ordered=True)
    call.require(
        a.ndim == b.ndim == 2, "both inputs must be matrices",
        found=f"ranks {a.ndim} and {b.ndim}", needed="rank 2",
    )  # fmt: skip
    left = a.T if call.attrs["transpose_a"] else a
    right = b.T if call.attrs["transpose_b"] else b
    call.require(
        left.shape[1] == right.shape[0],
        "the inner dimensions of a matrix product must be equal",
        found=f"{list(left.shape)} times {list(right.shape)}",
        needed="columns of the first = rows of the second",
    )
    product = exact_product(_centred(left, of_a), _centred(right, of_b))
    return product, *product_range(of_a, of_b, (a.dtype, b.dtype))


@kernel("QuantizedBiasAdd")
@quiet
def quantized_bias_add(call: Call, x: Array, bias: Array, *ends: Array) -> tuple[Any, ...]:
    """A vector added along the last dimension, in a range that holds both.

    TF ``QuantizedBiasAdd``.
    """
    of_x, of_bias = ranges(call, *ends)
    call.require(
        x.ndim >= 2 and bias.shape == x.shape[-1:],
        "the bias must be a vector as long as the input's last dimension",
        found=f"{list(bias.shape)} for {list(x.shape)}",
        needed="[C] for [..., C]",
    )
    least, most = min(of_x[0], of_bias[0]), max(of_x[1], of_bias[1])
    top = np.float32(max(abs(least), abs(most)) * np.float32(1 << 17))
    new, dtype = (np.float32(-top), top), np.dtype(np.int32)
    zero = int(from_float(np.float32(0), *new, dtype))
    left = many_from_float(many_to_float(x, *of_x), *new, dtype).astype(np.int64)
    right = many_from_float(many_to_float(bias, *of_bias), *new, dtype).astype(np.int64)
    return wrap_int32(left + right + zero), *new
