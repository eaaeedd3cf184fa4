"""Reductions over axes: sums, products, extremes, logic, norms, and where extremes are.

Source: TensorFlow ops of the same names. float16 and bfloat16 accumulate in float32; integers wrap.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.kernels._indices import wrap_axis
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.math._elementwise import Function


def _axes(call: Call, axes: Array, rank: int) -> tuple[int, ...]:
    """Axes counted from the front, in any order; INVALID_ARGUMENT for foreign or repeated ones."""
    wrapped = tuple(wrap_axis(call, int(a), rank) for a in axes.reshape(-1))
    call.require(
        len(set(wrapped)) == len(wrapped),
        "each axis may be named once",
        found=axes.reshape(-1).tolist(),
        needed="no axis twice",
    )
    return wrapped


def _sum(x: Array, axes: tuple[int, ...], keep: bool) -> Any:
    return np.sum(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _prod(x: Array, axes: tuple[int, ...], keep: bool) -> Any:
    return np.prod(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _mean(x: Array, axes: tuple[int, ...], keep: bool) -> Any:
    count = math.prod(x.shape[a] for a in axes)
    if x.dtype.kind == "c":
        total = np.asarray(_sum(x, axes, keep))
        count = max(count, 1)  # zero of nothing, unlike real numbers
        out = np.empty(total.shape, x.dtype)
        # By parts: an infinite one would make the other NaN.
        out.real, out.imag = (part / part.dtype.type(count) for part in (total.real, total.imag))
        return out
    if x.dtype.kind not in "iu":
        return _sum(x, axes, keep) / x.dtype.type(count)
    # Integers add up in 64 bits, and the mean is cut towards zero, as C divides.
    total = np.asarray(_sum(x.astype(f"{x.dtype.kind}8"), axes, keep))
    quotient = np.abs(total) // total.dtype.type(max(count, 1))
    return np.where(total < 0, -quotient, quotient)


def _lowest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def _max(x: Array, axes: tuple[int, ...], keep: bool) -> Any:
    return np.max(x, axis=axes, keepdims=keep, initial=_lowest(x.dtype))


def _min(x: Array, axes: tuple[int, ...], keep: bool) -> Any:
    return np.min(x, axis=axes, keepdims=keep, initial=_highest(x.dtype))


def _norm(x: Array, axes: tuple[int, ...], keep: bool) -> Any:
    return np.sqrt(np.asarray(_sum(x * np.conjugate(x), axes, keep)))


_REDUCTIONS: Final[dict[str, Function]] = {
    "Sum": _sum,
    "Prod": _prod,
    "Mean": _mean,
    "Max": _max,
    "Min": _min,
    "All": lambda x, axes, keep: np.all(x, axis=axes, keepdims=keep),
    "Any": lambda x, axes, keep: np.any(x, axis=axes, keepdims=keep),
    "EuclideanNorm": _norm,
}


@kernel(*_REDUCTIONS)
@quiet
def reduce(call: Call, x: Array, axes: Array) -> Array:
    """One value for all elements along ``axes``; these are dropped, or kept as 1 (``keep_dims``).

    No axes mean no reduction. An empty one gives the neutral element, or NaN for Mean (0 for ints).
    """
    wrapped = _axes(call, axes, x.ndim)
    result = _REDUCTIONS[call.op](widen(x), wrapped, bool(call.attrs["keep_dims"]))
    return np.asarray(result).astype(x.dtype, copy=False)


@kernel("ArgMax", "ArgMin")
def arg_extreme(call: Call, x: Array, dimension: Array) -> Array:
    """Index of the first extreme along ``dimension``, as ``output_type``; NaN is never extreme."""
    call.require(dimension.ndim == 0, "dimension must be a scalar", found=list(dimension.shape))
    axis = wrap_axis(call, int(dimension), x.ndim, "dimension")
    out_shape = x.shape[:axis] + x.shape[axis + 1 :]
    target = call.attrs["output_type"].np
    call.require(x.shape[axis] > 0, "the reduced axis must not be empty", found=list(x.shape))
    if math.prod(out_shape) == 0:
        return np.zeros(out_shape, target)
    wide = widen(x)
    if wide.dtype.kind == "f":
        worst = -np.inf if call.op == "ArgMax" else np.inf
        wide = np.where(np.isnan(wide), wide.dtype.type(worst), wide)
    function = np.argmax if call.op == "ArgMax" else np.argmin
    return np.asarray(function(wide, axis=axis)).astype(target)


@kernel("L2Loss")
@quiet
def l2_loss(_: Call, t: Array) -> Array:
    """Half the sum of squares, a scalar."""
    wide = widen(t)
    return np.asarray(np.sum(wide * wide) / wide.dtype.type(2)).astype(t.dtype)


def _scan(call: Call, x: Array, axis: Array, neutral: Any, function: Function) -> Array:
    """A running reduction along one axis, exclusive or reversed as the attributes say."""
    call.require(axis.ndim == 0, "axis must be a scalar", found=list(axis.shape))
    at = wrap_axis(call, int(axis), x.ndim)
    wide = np.moveaxis(widen(x), at, 0)
    if call.attrs["reverse"]:
        wide = wide[::-1]
    if call.attrs["exclusive"] and len(wide):
        first = np.full((1, *wide.shape[1:]), neutral, wide.dtype)
        wide = np.concatenate([first, wide[:-1]])
    out = function(wide)
    if call.attrs["reverse"]:
        out = out[::-1]
    return np.ascontiguousarray(np.moveaxis(out, 0, at)).astype(x.dtype, copy=False)


@kernel("Cumsum")
@quiet
def cumsum(call: Call, x: Array, axis: Array) -> Array:
    """Running sum along ``axis``; ``exclusive`` leaves each element itself out."""
    return _scan(call, x, axis, 0, lambda v: np.cumsum(v, axis=0, dtype=v.dtype))


@kernel("Cumprod")
@quiet
def cumprod(call: Call, x: Array, axis: Array) -> Array:
    """Running product along ``axis``; ``exclusive`` leaves each element itself out."""
    return _scan(call, x, axis, 1, lambda v: np.cumprod(v, axis=0, dtype=v.dtype))


@kernel("CumulativeLogsumexp")
@quiet
def cumulative_logsumexp(call: Call, x: Array, axis: Array) -> Array:
    """Logarithm of the running sum of exponentials along ``axis``, without overflow."""
    return _scan(call, x, axis, -np.inf, lambda v: np.logaddexp.accumulate(v, axis=0))
