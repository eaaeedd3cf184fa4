"""Reductions: sums, means, extremes, and those that leave out NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src.backend import config
from keras.src.backend.common.dtypes import result_type

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import emit, is_symbolic
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops import shaping
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.operands import (
    axes_of,
    floating,
    is_integer,
    kind_of,
    like,
    one_axis,
)

__all__ = [
    "all", "any", "argmax", "argmin", "average", "count_nonzero", "cumprod", "cumsum", "max",
    "mean", "min", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean",
    "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "prod", "ptp", "size", "std", "sum", "trace",
    "trapezoid", "var",
]  # fmt: skip

_WIDE = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
"""The dtypes that small integers are added up in."""


def reduced(op: str, x: Any, axis: Any, keepdims: bool) -> Any:
    """A reduction over axes, all without any."""
    return emit(op, x, axes_of(x, axis), keep_dims=bool(keepdims))


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum."""
    x = convert_to_tensor(x)
    return reduced("Sum", cast(x, _WIDE.get(kind_of(x), kind_of(x))), axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """The product."""
    x = convert_to_tensor(x)
    kind = _WIDE.get(kind_of(x), kind_of(x)) if dtype is None else dtype
    return reduced("Prod", cast(x, kind), axis, keepdims)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean, as floats; of half floats computed in ``float32``."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    wanted = result_type(kind, "float32") if is_integer(kind) else kind
    inner = "float32" if wanted in ("float16", "bfloat16") else wanted
    return cast(reduced("Mean", cast(x, inner), axis, keepdims), wanted)


def _extreme(op: str, smaller: bool) -> Callable[..., Any]:
    def function(x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        x = convert_to_tensor(x)
        if kind_of(x) == "bool":
            found = reduced("Any" if smaller else "All", x, axis, keepdims)
            return found if initial is None else e.logical_or(found, initial)
        if initial is None and not is_symbolic(x) and _is_empty(x, axis):
            raise ValueError("zero-size array to reduction operation which has no identity")
        found = reduced(op, x, axis, keepdims)
        if initial is None:
            return found
        return emit("Maximum" if smaller else "Minimum", found, like(initial, found))

    function.__doc__ = f"The {'largest' if smaller else 'smallest'} element."
    return function


def _is_empty(x: Any, axis: Any) -> bool:
    return builtins_any(x.shape[k] == 0 for k in axes_of(x, axis))


def builtins_any(values: Any) -> bool:
    """Python's ``any``."""
    return True in map(bool, values)


max, min = _extreme("Max", True), _extreme("Min", False)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all are true."""
    return reduced("All", cast(x, "bool"), axis, keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether one is true."""
    return reduced("Any", cast(x, "bool"), axis, keepdims)


def count_nonzero(x: Any, axis: Any = None) -> Any:
    """How many are not 0."""
    x = convert_to_tensor(x)
    return reduced("Sum", cast(cast(x, "bool"), "int32"), axis, False)


def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest minus the smallest."""
    return e.subtract(max(x, axis, keepdims), min(x, axis, keepdims))


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The variance."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    wanted, inner = result_type(kind, float), result_type(kind, "float32")
    if kind.startswith("complex"):
        inner = kind
    x = cast(x, inner)
    apart = e.subtract(x, cast(mean(x, axis, True), inner))
    if kind.startswith("complex"):
        return reduced("Mean", e.square(e.absolute(apart)), axis, keepdims)
    return cast(reduced("Mean", e.square(apart), axis, keepdims), wanted)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The standard deviation."""
    x = convert_to_tensor(x)
    if is_integer(kind_of(x)):
        x = cast(x, config.floatx())
    return e.sqrt(var(x, axis, keepdims))


def size(x: Any) -> Any:
    """The number of elements."""
    x = convert_to_tensor(x)
    if is_symbolic(x) and None in x.shape:
        return emit("Size", x, out_type=as_dtype("int32"))
    return int(np.prod(x.shape, dtype=np.int64))


def average(x: Any, axis: Any = None, weights: Any = None) -> Any:
    """The mean, weighted."""
    x = convert_to_tensor(x)
    kinds = [x.dtype, float]
    if weights is not None:
        weights = convert_to_tensor(weights)
        kinds.append(weights.dtype)
    kind = result_type(*kinds)
    x = cast(x, kind)
    if weights is None:
        return mean(x, axis)
    weights = cast(weights, kind)
    if axis is not None and weights.ndim == 1 and x.ndim > 1:
        shape = [1] * x.ndim
        shape[one_axis(axis, x.ndim)] = -1
        weights = shaping.reshape(weights, shape)
    total = sum(e.multiply(weights, e.add(x, like(0, x))), axis)
    return e.divide(total, sum(e.add(weights, emit("ZerosLike", x)), axis))


def _place(op: str) -> Callable[..., Any]:
    def function(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = convert_to_tensor(x)
        kind, rank = kind_of(x), x.ndim
        if rank == 0:
            return np.int32(0) if not is_symbolic(x) else cast(emit("ZerosLike", x), "int32")
        if "float" in kind:
            x = _below_zero(cast(x, result_type(kind, "float32")))
        flat = shaping.reshape(x, (-1,)) if axis is None else x
        place = 0 if axis is None else one_axis(axis, rank)
        found = emit(op, flat, np.int32(place), output_type=as_dtype("int32"))
        if not keepdims:
            return found
        return (
            shaping.reshape(found, (1,) * rank)
            if axis is None
            else shaping.expand_dims(found, place)
        )

    function.__doc__ = f"The index that {op} gives."
    return function


def _below_zero(x: Any) -> Any:
    """-0.0 as the number next below 0."""
    minus = e.logical_and(e.equal(x, like(0, x)), e.signbit(x))
    return e.where(minus, like(-np.finfo(kind_of(x)).tiny, x), x)


argmax, argmin = _place("ArgMax"), _place("ArgMin")


def _running(op: str) -> Callable[..., Any]:
    def function(x: Any, axis: Any = None, dtype: Any = None) -> Any:
        x = convert_to_tensor(x)
        kind = dtype or result_type(x.dtype)
        x = cast(x, "int32" if kind == "bool" else kind)
        if axis is None:
            x, axis = shaping.reshape(x, (-1,)), 0
        return emit(op, x, np.int32(one_axis(axis, x.ndim)))

    function.__doc__ = f"{op} along an axis."
    return function


cumsum, cumprod = _running("Cumsum"), _running("Cumprod")


def without_nan(x: Any, instead: Any) -> Any:
    """The tensor with another number for NaN."""
    x = convert_to_tensor(x)
    return x if is_integer(kind_of(x)) else e.where(e.isnan(x), like(instead, x), x)


def nansum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum of what is no NaN."""
    return sum(without_nan(x, 0), axis, keepdims)


def nanprod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product of what is no NaN."""
    return prod(without_nan(x, 1), axis, keepdims)


def nancumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Running sums of what is no NaN."""
    return cumsum(without_nan(x, 0), axis, dtype)


def nancumprod(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Running products of what is no NaN."""
    return cumprod(without_nan(x, 1), axis, dtype)


def _nan_extreme(function: Callable[..., Any], instead: float) -> Callable[..., Any]:
    def extreme(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = convert_to_tensor(x)
        if is_integer(kind_of(x)):
            return function(x, axis, keepdims)
        found = function(without_nan(x, instead), axis, keepdims)
        return e.where(all(e.isnan(x), axis, keepdims), like(np.nan, found), found)

    extreme.__doc__ = "The extreme of what is no NaN."
    return extreme


nanmax, nanmin = _nan_extreme(max, -np.inf), _nan_extreme(min, np.inf)


def _counted(x: Any, axis: Any, keepdims: bool) -> Any:
    return sum(cast(e.logical_not(e.isnan(x)), kind_of(x)), axis, keepdims)


def nanmean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of what is no NaN."""
    x = convert_to_tensor(x)
    if is_integer(kind_of(x)):
        return mean(x, axis, keepdims)
    kind = kind_of(x)
    x = cast(x, result_type(kind, "float32"))
    found = e.divide(nansum(x, axis, keepdims), _counted(x, axis, keepdims))
    return cast(found, kind)


def nanvar(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The variance of what is no NaN."""
    x = convert_to_tensor(x)
    if is_integer(kind_of(x)):
        return var(x, axis, keepdims)
    kind = kind_of(x)
    x = cast(x, result_type(kind, "float32"))
    apart = e.subtract(x, nanmean(x, axis, True))
    squares = e.square(e.absolute(apart))
    count = cast(_counted(x, axis, keepdims), squares.dtype)
    found = e.divide(nansum(squares, axis, keepdims), count)
    return found if kind.startswith("complex") else cast(found, result_type(kind, float))


def nanstd(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The standard deviation of what is no NaN."""
    x = convert_to_tensor(x)
    return e.sqrt(nanvar(cast(x, config.floatx()) if is_integer(kind_of(x)) else x, axis, keepdims))


def _nan_place(function: Callable[..., Any], instead: float) -> Callable[..., Any]:
    def place(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = convert_to_tensor(x)
        found = function(without_nan(x, instead), axis, keepdims)
        if is_integer(kind_of(x)):
            return found
        return e.where(all(e.isnan(x), axis, keepdims), like(-1, found), found)

    place.__doc__ = "The index of the extreme of what is no NaN; -1 where all are."
    return place


nanargmax, nanargmin = _nan_place(argmax, -np.inf), _nan_place(argmin, np.inf)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal."""
    x = convert_to_tensor(x)
    return sum(shaping.diagonal(x, offset, axis1, axis2), -1)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral by trapezoids."""
    y = floating(y)
    if x is None:
        width = like(dx, y)
    else:
        x = cast(x, y.dtype)
        width = shaping.diff(x, axis=-1 if x.ndim == 1 else axis)
        if x.ndim == 1:
            shape_ = [1] * y.ndim
            shape_[axis] = -1
            width = shaping.reshape(width, shape_)
    last = shape(y)[axis]
    first_part = shaping.along(y, axis, 1, None)
    second_part = shaping.along(y, axis, 0, last - 1)
    middle = e.multiply(e.add(first_part, second_part), like(0.5, y))
    return sum(e.multiply(middle, width), axis)
