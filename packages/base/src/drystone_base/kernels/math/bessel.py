"""Bessel functions of orders 0 and 1, of all kinds, plain and exponentially scaled.

Source: TensorFlow ops of the same names. Computed in float64 from Abramowitz and Stegun, *Handbook
of Mathematical Functions*, chapter 9: power series near 0, integral representations in the middle,
asymptotic expansions far out. Where K and Y do not exist they are infinite, as in TensorFlow.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, kernel
from drystone_base.kernels.math._quadrature import unit_interval
from drystone_base.kernels.math.special import in_float64

_EULER: Final = 0.5772156649015329
_FAR_SCALED: Final = 40.0
_FAR: Final = 25.0
_POINTS: Final = 96


def _series(n: int, x: Array, sign: int) -> Array:
    """(x/2)^n times the sum of (sign x^2/4)^k / (k! (k+n)!): 9.1.10 and 9.6.10."""
    square, term = sign * x * x / 4, np.full_like(x, 1.0)
    total = term.copy()
    for k in range(1, 20):
        term = term * square / (k * (k + n))
        total += term
    return np.asarray((x / 2) ** n * total)


def _expansion(n: int, count: int) -> list[float]:
    """Coefficients of 1/x^k in the asymptotic expansions: 9.2.9, 9.7.1."""
    out = [1.0]
    for k in range(1, count):
        out.append(out[-1] * (4 * n * n - (2 * k - 1) ** 2) / (8 * k))
    return out


def _pick(x: Array, near: float, far: float, parts: list[Any]) -> Array:
    """Of three functions the one for the range that x is in; each sees only its range."""
    out = np.full_like(x, np.nan)
    ranges = (x < near, (x >= near) & (x < far), x >= far)
    for inside, function in zip(ranges, parts, strict=True):
        if inside.any():
            out[inside] = function(x[inside])
    return out


def _circle(x: Array, value: Any, count: int = 40) -> Array:
    """Mean of ``value(x, angle)`` over half a circle; the trapezoid rule is exact for waves."""
    total = (value(x, 0.0) + value(x, math.pi)) / 2
    for k in range(1, count):
        total = total + value(x, math.pi * k / count)
    return np.asarray(total / count)


def _i_scaled(n: int, x: Array) -> Array:
    """e^-x I_n(x) for x >= 0."""
    far = [c * (-1) ** k for k, c in enumerate(_expansion(n, 25))]
    return _pick(x, 1.0, _FAR_SCALED, [
        lambda v: _series(n, v, 1) * np.exp(-v),
        lambda v: _circle(v, lambda u, t: np.exp(u * (math.cos(t) - 1)) * math.cos(n * t)),
        lambda v: np.polyval(far[::-1], 1 / v) / np.sqrt(2 * np.pi * v),
    ])  # fmt: skip


def _k_scaled(n: int, x: Array) -> Array:
    """e^x K_n(x) for x > 0: the integral 9.6.24, whose integrand vanishes doubly exponentially."""

    def middle(v: Array) -> Array:
        step = (np.arccosh(1 + 45 / v) + 1) / 160
        total = np.full_like(v, 0.5)
        for k in range(1, 161):
            t = k * step
            total += np.exp(-2 * v * np.sinh(t / 2) ** 2) * np.cosh(n * t)
        return total * step

    far = _expansion(n, 25)
    return _pick(x, 0.0, _FAR_SCALED, [
        middle, middle, lambda v: np.polyval(far[::-1], 1 / v) * np.sqrt(np.pi / (2 * v)),
    ])  # fmt: skip


def _hankel(n: int, x: Array) -> tuple[Array, Array]:
    """J_n and Y_n far out: 9.2.5 and 9.2.6, the phase split so that no digits are lost."""
    terms = [c * (-1) ** (k // 2) for k, c in enumerate(_expansion(n, 24))]
    p = np.polyval(terms[::2][::-1], 1 / (x * x))
    q = np.polyval(terms[1::2][::-1], 1 / (x * x)) / x
    cos, sin = (np.cos(x) + np.sin(x)), (np.sin(x) - np.cos(x))
    if n == 1:
        cos, sin = sin, -cos
    scale = np.sqrt(1 / (np.pi * x))
    return scale * (p * cos - q * sin), scale * (p * sin + q * cos)


def _j(n: int, x: Array) -> Array:
    """J_n(x) for x >= 0."""
    return _pick(x, 1.0, _FAR, [
        lambda v: _series(n, v, -1),
        lambda v: _circle(v, lambda u, t: np.cos(u * math.sin(t) - n * t)),
        lambda v: _hankel(n, v)[0],
    ])  # fmt: skip


def _y_series(n: int, x: Array) -> Array:
    """Y_n(x) for small x > 0: 9.1.11 and 9.1.13."""
    square, term = -x * x / 4, np.full_like(x, 1.0)
    total, first, second = np.zeros_like(x), 0.0, 1.0 if n else 0.0
    for k in range(25):
        total += term * ((first + second) / 2 - _EULER)
        term = term * square / ((k + 1) * (k + 1 + n))
        first, second = first + 1 / (k + 1), second + 1 / (k + 1 + n)
    log_part = np.log(x / 2) * _series(n, x, -1)
    pole = 2 / (np.pi * x) if n else 0.0
    return np.asarray(2 / np.pi * (log_part - (x / 2) ** n * total) - pole)


def _y_integral(n: int, x: Array) -> Array:
    """Y_n(x) for moderate x: the integrals 9.1.22 by Gauss and Legendre's rule."""
    total, end = np.zeros_like(x), np.arcsinh(40 / x)
    for node, weight in zip(*unit_interval(_POINTS), strict=True):
        angle, t = math.pi * float(node), end * node
        total += weight * np.sin(x * math.sin(angle) - n * angle)
        both = np.exp(n * t) + (-1) ** n * np.exp(-n * t)
        total -= weight * end / math.pi * both * np.exp(-x * np.sinh(t))
    return total


def _y(n: int, x: Array) -> Array:
    """Y_n(x) for x > 0."""
    return _pick(x, 3.0, _FAR, [
        lambda v: _y_series(n, v), lambda v: _y_integral(n, v), lambda v: _hankel(n, v)[1],
    ])  # fmt: skip


def _first_kind(order: int, function: Any, growth: Any) -> Any:
    """A kernel over all reals: even for order 0, odd for order 1, times ``growth(|x|)``."""

    def run(x: Array) -> Array:
        size = np.abs(np.atleast_1d(x))
        out = np.asarray(function(order, size) * growth(size)).reshape(x.shape)
        return np.where(x < 0, -out, out) if order else out

    return in_float64(run)


def _second_kind(order: int, function: Any, growth: Any, pole: float) -> Any:
    """A kernel over x > 0, times ``growth(x)``; ``pole`` elsewhere."""

    def run(x: Array) -> Array:
        flat = np.atleast_1d(x)
        inside = np.where(flat > 0, flat, np.where(np.isnan(flat), np.nan, 1.0))
        out = np.asarray(function(order, inside) * growth(inside)).reshape(x.shape)
        return np.where(x <= 0, pole, out)

    return in_float64(run)


def _one(_: Array) -> float:
    return 1.0


for _n in (0, 1):
    kernel(f"BesselI{_n}e")(_first_kind(_n, _i_scaled, _one))
    kernel(f"BesselI{_n}")(_first_kind(_n, _i_scaled, np.exp))
    kernel(f"BesselJ{_n}")(_first_kind(_n, _j, _one))
    kernel(f"BesselK{_n}e")(_second_kind(_n, _k_scaled, _one, math.inf))
    kernel(f"BesselK{_n}")(_second_kind(_n, _k_scaled, lambda x: np.exp(-x), math.inf))
    kernel(f"BesselY{_n}")(_second_kind(_n, _y, _one, -math.inf))
