"""Integers that stand for a range of floats: the arithmetic that the Quantized* ops share.

TensorFlow converts in two ways that differ in the last bit: number by number in float64, and by
whole tensors in float32. Both are here, because outputs depend on which one an op takes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call

__all__ = [
    "bounds",
    "exact_product",
    "from_float",
    "from_float_unclamped",
    "half_away",
    "many_from_float",
    "many_to_float",
    "product_range",
    "ranges",
    "requantize",
    "scalar_float",
    "to_float",
    "wrap_int32",
]

_TOP_INT32: Final = np.float32(2147483520)
_EXACT: Final = 2.0**52
_WIDE: Final = 2.0**61


def bounds(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def half_away(x: Array) -> Array:
    """Rounding to the nearest integer, halves away from zero."""
    whole = np.trunc(x)
    return np.asarray(whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0).astype(x.dtype))


def scalar_float(call: Call, value: Array, what: str) -> np.float32:
    """The one number of a range input; fails for anything but a scalar."""
    call.require(
        value.ndim == 0, f"{what} must be a scalar", found=list(value.shape), needed="rank 0"
    )
    return np.float32(value[()])


def ranges(call: Call, *pairs: Array, ordered: bool = False) -> list[tuple[np.float32, np.float32]]:
    """(min, max) pairs of range inputs that come in turn; ``ordered`` asks for min < max."""
    numbers = [scalar_float(call, value, "a range's end") for value in pairs]
    out = list(zip(numbers[::2], numbers[1::2], strict=True))
    for low, high in out:
        call.require(
            not ordered or low < high,
            "a range's max must be larger than its min",
            found=f"{low} and {high}",
            needed="min < max",
        )
    return out


def _steps(dtype: np.dtype[Any]) -> float:
    return float(2 ** (8 * dtype.itemsize))


def to_float(x: Array, low: np.float32, high: np.float32) -> Array:
    """The float32 numbers that integers stand for, each computed in float64."""
    if low == high:
        return np.full(x.shape, low, np.float32)
    steps = _steps(x.dtype)
    scale = float(np.float32(high - low)) * (steps / (steps - 1)) / steps
    unit = np.float32(scale)
    start = half_away(np.asarray(np.float32(low / unit))) * unit
    offset = x.astype(np.float64) - bounds(x.dtype)[0]
    return np.asarray(start.astype(np.float64) + offset * scale).astype(np.float32)


def from_float_unclamped(
    x: Any, low: np.float32, high: np.float32, dtype: np.dtype[Any]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Integers for floats, computed in float64 and not cut to the type's range."""
    least = bounds(dtype)[0]
    given = np.asarray(x, np.float32).astype(np.float64)
    if low == high:
        return np.full(given.shape, least, np.int64)
    steps = _steps(dtype)
    scale = steps / (float(np.float32(high - low)) * (steps / (steps - 1)))
    whole = half_away(given * scale) - half_away(np.asarray(float(low) * scale))
    return np.asarray(whole).astype(np.int64) + least


def from_float(x: Any, low: np.float32, high: np.float32, dtype: np.dtype[Any]) -> Array:
    """Integers for floats, computed in float64 and cut to the type's range."""
    out: Array = np.clip(from_float_unclamped(x, low, high, dtype), *bounds(dtype)).astype(dtype)
    return out


def many_to_float(x: Array, low: np.float32, high: np.float32) -> Array:
    """As :func:`to_float`, in float32 throughout."""
    unit = np.float32(float(np.float32(high - low)) / (_steps(x.dtype) - 1))
    start = low if low == high else half_away(np.asarray(np.float32(low / unit))) * unit
    base = np.float32(start - np.float32(bounds(x.dtype)[0]) * unit)
    return np.asarray(base + x.astype(np.float32) * unit)


def many_from_float(x: Array, low: np.float32, high: np.float32, dtype: np.dtype[Any]) -> Array:
    """As :func:`from_float`, in float32 throughout."""
    scale = np.float32(0)
    if low != high:
        scale = np.float32((_steps(dtype) - 1) / float(np.float32(high - low)))
    first, last = (np.float32(b) for b in bounds(dtype))
    shift = half_away(np.asarray(np.float32(low * scale))) - first
    whole = half_away(x * scale) - np.float32(shift)
    return np.clip(whole, first, min(last, _TOP_INT32)).astype(np.int32).astype(dtype)


def requantize(
    x: Array,
    old: tuple[np.float32, np.float32],
    new: tuple[np.float32, np.float32],
    dtype: np.dtype[Any],
) -> Array:
    """Integers of one range as integers of another; int32 to uint8 in fixed point."""
    if x.dtype == np.int32 and dtype == np.uint8:
        return _requantize_fixed(x, old, new)
    return many_from_float(many_to_float(x, *old), *new, dtype)


def _requantize_fixed(
    x: Array, old: tuple[np.float32, np.float32], new: tuple[np.float32, np.float32]
) -> Array:
    one = 1 << 16
    width, span = np.float32(old[1] - old[0]), np.float32(new[1] - new[0])
    per_unit = 255.0 / float(span) if span else 0.0
    centre = np.float32(float(np.float32(old[0] + old[1])) / 2.0)
    scale = 255.0 * one * float(width) / float(span) if span else 0.0
    start = one * (float(new[0]) * 255.0) / float(span) if span else 0.0
    offset = float(np.float32(centre * np.float32(per_unit)) * np.float32(one))
    if not all(abs(v) < _WIDE for v in (scale, start, offset)):
        return np.zeros(x.shape, np.uint8)  # ranges that are not finite have no steps
    more = int(offset) - round(start) + one // 2
    moved = ((x.astype(np.int64) * int(scale)) >> 32) + more
    out: Array = np.clip(moved >> 16, 0, 255).astype(np.uint8)
    return out


def _level(low: np.float32, high: np.float32, dtype: np.dtype[Any]) -> np.float32:
    first, last = bounds(dtype)
    return np.float32(np.float32(high - low) / np.float32(last - first))


def product_range(
    a: tuple[np.float32, np.float32],
    b: tuple[np.float32, np.float32],
    types: tuple[np.dtype[Any], np.dtype[Any]],
) -> tuple[np.float32, np.float32]:
    """What the ends of int32 stand for when steps of two ranges are multiplied."""
    unit = np.float32(_level(*a, types[0]) * _level(*b, types[1]))
    first, last = bounds(np.dtype(np.int32))
    return np.float32(unit * np.float32(first)), np.float32(unit * np.float32(last))


def wrap_int32(x: Array) -> Array:
    """Whole numbers cut to their low 32 bits."""
    return x.astype(np.int64).astype(np.int32)


def exact_product(a: Array, b: Array) -> Array:
    """``a @ b`` of integers modulo 2^32, by float64 where that is exact."""
    top = float(np.abs(a).max(initial=0)) * float(np.abs(b).max(initial=0)) * a.shape[-1]
    if top < _EXACT:
        return wrap_int32(a.astype(np.float64) @ b.astype(np.float64))
    return wrap_int32(a.astype(np.int64) @ b.astype(np.int64))
