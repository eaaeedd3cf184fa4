"""Special functions of one argument: error functions and their inverses, gamma and its derivative.

Source: TensorFlow ops of the same names; NumPy has none of them. Everything is computed in float64
and rounded once: the error functions and lgamma by the C library, the rest by series named below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from drystone_base.kernels._pieces import elements
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.math._elementwise import Function

_NORMAL: Final = NormalDist()
_ROOT_2: Final = math.sqrt(2.0)
_SLOPE: Final = math.sqrt(math.pi) / 2


def _each(function: Callable[[float], float], x: Array) -> Array:
    """A function of Python floats applied to every element of a float64 array."""
    return np.fromiter(map(function, elements(x)), np.float64, x.size).reshape(x.shape)


def erf(x: Array) -> Array:
    """The error function, in float64."""
    return _each(math.erf, x)


def _erfc(x: Array) -> Array:
    return _each(math.erfc, x)


def _lgamma_of(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


def lgamma(x: Array) -> Array:
    """Logarithm of the absolute value of the gamma function, in float64."""
    return _each(_lgamma_of, x)


def _upper_quantile(tail: float) -> float:
    """The y >= 0 with ``erfc(y) = tail`` for 0 < tail <= 1, by Newton's method."""
    y = -_NORMAL.inv_cdf(tail / 2) / _ROOT_2
    root = math.exp(y * y / 2)  # its square would overflow at the smallest tails
    return y + _SLOPE * root * (math.erfc(y) - tail) * root


def _erfinv_of(x: float) -> float:
    size = abs(x)
    if size >= 1 or math.isnan(x):
        return math.copysign(math.inf, x) if size == 1 else math.nan
    if size > 0.5:
        return math.copysign(_upper_quantile(1 - size), x)
    y = _SLOPE * x
    for _ in range(6):
        y += _SLOPE * math.exp(y * y) * (x - math.erf(y))
    return y


def _ndtri_of(p: float) -> float:
    if not 0 < p < 1:
        return {0.0: -math.inf, 1.0: math.inf}.get(p, math.nan)
    return -_ROOT_2 * _upper_quantile(2 * p) if p < 0.25 else _ROOT_2 * _erfinv_of(2 * p - 1)


def digamma(x: Array) -> Array:
    """Derivative of lgamma in float64: reflection, recurrence up to 10, then Stirling's series."""
    pole = (x <= 0) & (x == np.floor(x))
    low = x < 0
    with np.errstate(all="ignore"):
        rest = x - np.rint(x)  # exact, also next to a pole
        reflected = np.where(low, np.pi / np.tan(np.pi * np.where(rest == 0, 0.5, rest)), 0.0)
        z = np.where(low, 1 - x, x)
        shift = np.zeros_like(z)
        for _ in range(10):
            small = z < 10
            shift -= np.where(small, 1 / z, 0.0)
            z = np.where(small, z + 1, z)
        square = 1 / (z * z)
        tail = np.zeros_like(z)
        for c in _DIGAMMA_SERIES:
            tail = (tail + c) * square
        result = np.log(z) - 0.5 / z - tail + shift - reflected
    return np.where(pole, np.nan, np.where(np.isposinf(x), np.inf, result))


# B(2k) / 2k for k = 7 ... 1, B being the Bernoulli numbers.
_DIGAMMA_SERIES: Final = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)

_FUNCTIONS: Final[dict[str, Function]] = {
    "Erf": erf,
    "Erfc": _erfc,
    "Erfinv": lambda x: _each(_erfinv_of, x),
    "Ndtri": lambda x: _each(_ndtri_of, x),
    "Lgamma": lgamma,
    "Digamma": digamma,
}


def in_float64(function: Function) -> Function:
    """A kernel that computes in float64 and keeps the first argument's dtype."""

    @quiet
    def run(_: Call, *values: Array) -> Array:
        wide: list[Any] = [v.astype(np.float64) for v in values]
        return np.asarray(function(*wide)).astype(values[0].dtype)

    return run


for _op, _function in _FUNCTIONS.items():
    kernel(_op)(in_float64(_function))
