"""Sequences of numbers, and the shape arithmetic of broadcasting.

Source: TensorFlow ops Range, LinSpace, BroadcastGradientArgs, BroadcastArgs.
"""

from __future__ import annotations

import math

import numpy as np

from drystone_base.kernels._indices import int_vector
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen


@kernel("Range")
@quiet
def arithmetic_range(call: Call, start: Array, limit: Array, delta: Array) -> Array:
    """``start``, ``start + delta``, ... below ``limit`` (above it for a negative ``delta``).

    INVALID_ARGUMENT for a zero ``delta`` or one that points away from ``limit``.
    """
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        call.require(value.size == 1, f"{name} must be a scalar", found=list(value.shape))
    first, last, step = (widen(v).reshape(-1)[0].item() for v in (start, limit, delta))
    call.require(step != 0, "delta must not be zero", found=step)
    call.require(
        first <= last if step > 0 else first >= last,
        "delta must point from start to limit",
        found=f"start {first}, limit {last}, delta {step}",
        needed="start <= limit when delta > 0, start >= limit when delta < 0",
    )
    if start.dtype.kind in "iu":
        count = (abs(last - first) + abs(step) - 1) // abs(step)
        check_size(call, [count], start.dtype)
        return np.asarray(first + step * np.arange(count)).astype(start.dtype)
    ratio = abs((last - first) / step)
    call.require(math.isfinite(ratio), "the range must be finite", found=f"{ratio} elements")
    check_size(call, [math.ceil(ratio)], start.dtype)
    wide = widen(start).dtype.type
    # Added up one by one in the range's own type, as TensorFlow does, so that rounding agrees.
    steps = np.full(math.ceil(ratio), wide(step))
    steps[:1] = wide(first)
    return np.cumsum(steps, dtype=steps.dtype).astype(start.dtype)


@kernel("LinSpace")
@quiet
def linspace(call: Call, start: Array, stop: Array, num: Array) -> Array:
    """``num`` evenly spaced values from ``start`` to ``stop``, both included."""
    for name, value in (("start", start), ("stop", stop), ("num", num)):
        call.require(value.ndim == 0, f"{name} must be a scalar", found=list(value.shape))
    count = int(num)
    call.require(count > 0, "num must be positive", found=count, needed="1 or more")
    check_size(call, [count], start.dtype)
    out = np.empty(count, start.dtype)
    out[0] = start
    if count > 1:  # in the dtype itself, as TensorFlow: with an infinite end, NaN and all
        kind = start.dtype.type
        step = (kind(stop) - kind(start)) / kind(count - 1)
        out[1:-1] = kind(start) + step * np.arange(1, count - 1).astype(kind)
        out[-1] = stop
    return out


def _broadcast(call: Call, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(a), len(b))
    pairs = list(zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True))
    call.require(
        all(x == y or 1 in (x, y) for x, y in pairs),
        "shapes must broadcast",
        found=f"{list(a)} and {list(b)}",
        needed="dimensions that are equal, or 1, counted from the right",
    )
    return tuple(y if x == 1 else x for x, y in pairs)


@kernel("BroadcastArgs")
def broadcast_args(call: Call, s0: Array, s1: Array) -> Array:
    """The shape that two shapes broadcast to."""
    out = _broadcast(call, int_vector(call, s0, "s0"), int_vector(call, s1, "s1"))
    return np.array(out, s0.dtype)


@kernel("BroadcastGradientArgs")
def broadcast_gradient_args(call: Call, s0: Array, s1: Array) -> tuple[Array, Array]:
    """For each of two shapes, the axes of their broadcast over which its gradient is summed."""
    a, b = int_vector(call, s0, "s0"), int_vector(call, s1, "s1")
    out = _broadcast(call, a, b)
    if a == b:
        return np.zeros(0, s0.dtype), np.zeros(0, s0.dtype)
    return (
        np.array(_summed_axes(a, out), s0.dtype),
        np.array(_summed_axes(b, out), s0.dtype),
    )


def _summed_axes(given: tuple[int, ...], out: tuple[int, ...]) -> list[int]:
    padded = (1,) * (len(out) - len(given)) + given
    return [k for k, d in enumerate(padded) if d == 1]
