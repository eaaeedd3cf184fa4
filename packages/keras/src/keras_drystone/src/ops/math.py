"""``keras.ops.math``: segments, the largest, Fourier transforms, special functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src.backend.common import is_float_dtype
from keras.src.backend.common.dtypes import result_type

from keras_drystone.src.dispatch import emit, outputs
from keras_drystone.src.ops import creating, reducing, shaping
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.indexing import take, take_along_axis
from keras_drystone.src.ops.operands import floating, kind_of, like
from keras_drystone.src.ops.spectra import (
    complex_of_parts,
    fft,
    fft2,
    ifft2,
    irfft,
    istft,
    rfft,
    stft,
)

_get_complex_tensor_from_tuple = complex_of_parts  # Keras's `polar` asks for it by this name

__all__ = [
    "cdist", "erf", "erfc", "erfinv", "extract_sequences", "fft", "fft2", "gammainc", "ifft2",
    "in_top_k", "irfft", "istft", "lgamma", "logdet", "logsumexp", "rfft", "rsqrt", "segment_max",
    "segment_min", "segment_prod", "segment_sum", "stft", "top_k",
]  # fmt: skip


def _segments(op: str) -> Callable[..., Any]:
    def function(
        data: Any,
        segment_ids: Any,
        num_segments: Any = None,
        sorted: bool = False,  # noqa: ARG001
    ) -> Any:
        data, ids = convert_to_tensor(data), cast(segment_ids, "int32")
        if num_segments is None:
            num_segments = emit("AddV2", reducing.max(ids), np.int32(1))
        found = emit(op, data, ids, cast(convert_to_tensor(num_segments), "int32"))
        return _infinite(op, found, ids, num_segments)

    function.__doc__ = f"{op}: of rows with the same number; negative ones are left out."
    return function


def _infinite(op: str, found: Any, ids: Any, count: Any) -> Any:
    """Infinite extremes for numbers that no row has; the op gives finite ones."""
    if op not in ("UnsortedSegmentMax", "UnsortedSegmentMin") or not is_float_dtype(kind_of(found)):
        return found
    ones = cast(emit("OnesLike", ids), "int32")
    rows = emit("UnsortedSegmentSum", ones, ids, cast(convert_to_tensor(count), "int32"))
    empty = shaping.reshape(e.equal(rows, 0), (-1,) + (1,) * (found.ndim - 1))
    value = -np.inf if op == "UnsortedSegmentMax" else np.inf
    return e.where(empty, like(value, found), found)


segment_sum, segment_prod = _segments("UnsortedSegmentSum"), _segments("UnsortedSegmentProd")
segment_max, segment_min = _segments("UnsortedSegmentMax"), _segments("UnsortedSegmentMin")


def top_k(x: Any, k: Any, sorted: bool = True, is_stable: bool = True) -> Any:  # noqa: ARG001
    """The largest along the last axis, and their indices."""
    from keras_drystone.src.ops.sorting import argsort

    x = convert_to_tensor(x)
    if kind_of(x) != "bool":
        values, indices = outputs("TopKV2", x, np.int32(k), sorted=True)
        return values, indices
    order = shaping.flip(argsort(shaping.flip(x, -1), -1), -1)
    indices = e.subtract(x.shape[-1] - 1, shaping.along(order, order.ndim - 1, None, k))
    return take_along_axis(x, indices, -1), indices


def in_top_k(targets: Any, predictions: Any, k: int) -> Any:
    """Whether the target is among the largest."""
    targets, predictions = convert_to_tensor(targets), convert_to_tensor(predictions)
    largest = top_k(predictions, k)[0]
    value = take_along_axis(predictions, shaping.expand_dims(targets, -1), -1)
    return reducing.any(e.greater_equal(value, largest), -1)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials."""
    x = floating(x)
    largest = reducing.reduced("Max", x, axis, True)  # of nothing it is -inf
    finite = e.where(e.isfinite(largest), largest, like(0, largest))
    total = reducing.sum(e.exp(e.subtract(x, finite)), axis, True)
    found = e.add(e.log(total), finite)
    if keepdims:
        return found
    axes = tuple(range(x.ndim)) if axis is None else axis
    return shaping.squeeze(found, axes) if x.ndim else found


def cdist(x: Any, y: Any) -> Any:
    """Distances of all rows of both."""
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError("`cdist` inputs must have rank >= 2")
    if x.shape[-1] != y.shape[-1]:
        raise ValueError("Last dimension of inputs to `cdist` must match")
    kind = result_type(x.dtype, y.dtype, float)
    x, y = cast(x, kind), cast(y, kind)
    apart = e.subtract(shaping.expand_dims(x, -2), shaping.expand_dims(y, -3))
    return e.sqrt(reducing.sum(e.square(apart), -1))


def extract_sequences(x: Any, sequence_length: int, sequence_stride: int) -> Any:
    """Parts of the last axis that overlap."""
    x = convert_to_tensor(x)
    size, within = shape(x)[-1], np.arange(sequence_length, dtype=np.int32)
    beyond = size - (sequence_length - sequence_stride)
    starts = creating.arange(beyond // sequence_stride, dtype="int32") * sequence_stride
    return take(x, shaping.expand_dims(starts, -1) + within, -1)


def rsqrt(x: Any) -> Any:
    """1 divided by the square root."""
    return emit("Rsqrt", floating(x))


def erf(x: Any) -> Any:
    """The error function."""
    return emit("Erf", floating(x))


def erfc(x: Any) -> Any:
    """1 minus the error function."""
    return emit("Erfc", floating(x))


def erfinv(x: Any) -> Any:
    """The inverse of the error function."""
    return emit("Erfinv", floating(x))


def lgamma(x: Any) -> Any:
    """The logarithm of the gamma function."""
    return emit("Lgamma", floating(x))


def gammainc(x1: Any, x2: Any) -> Any:
    """The regularized lower incomplete gamma function."""
    x, y = convert_to_tensor(x1), convert_to_tensor(x2)
    kind = result_type(x.dtype, y.dtype, float)
    return emit("Igamma", cast(x, kind), cast(y, kind))


def logdet(x: Any) -> Any:
    """The logarithm of the determinant."""
    from keras_drystone.src.ops.linalg import slogdet

    return slogdet(x)[1]
