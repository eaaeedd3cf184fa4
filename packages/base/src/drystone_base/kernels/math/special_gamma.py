"""Special functions of several arguments: incomplete gamma and beta, Hurwitz zeta, polygamma.

Source: TensorFlow ops of the same names. Computed in float64 by the series and continued fractions
of Abramowitz and Stegun, *Handbook of Mathematical Functions*, chapters 6, 23 and 26.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.math._elementwise import broadcast_shape
from drystone_base.kernels.math.special import digamma, lgamma

_EPSILON: Final = 1e-16
_TINY: Final = 1e-300
_ROUNDS: Final = 5000
"""More than the series needs at its slowest, where both arguments are around a million."""

# B(2j) / (2j)! for j = 1 ... 10, B being the Bernoulli numbers.
_ZETA_SERIES: Final = tuple(
    b / math.factorial(2 * j)
    for j, b in enumerate(
        (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
         -174611 / 330), 1)
)  # fmt: skip


def _gamma_series(a: Array, x: Array) -> Array:
    """Lower regularised gamma for x < a + 1, by its power series (6.5.29)."""
    term = np.ones_like(x)
    total = term.copy()
    for k in range(1, _ROUNDS):
        term = term * x / (a + k)
        total += term
        if not (term > total * _EPSILON).any():
            break
    return np.asarray(total * np.exp(a * np.log(x) - x - lgamma(a + 1)))


def _gamma_fraction(a: Array, x: Array) -> Array:
    """Upper regularised gamma for x > a + 1, by its continued fraction (6.5.31)."""
    b = x + 1 - a
    c, d = np.full_like(x, 1 / _TINY), 1 / b
    h = d.copy()
    for k in range(1, _ROUNDS):
        factor = -k * (k - a)
        b = b + 2
        d = 1 / _not_zero(factor * d + b)
        c = _not_zero(b + factor / c)
        h *= d * c
        if not (np.abs(d * c - 1) > _EPSILON * 4).any():
            break
    return np.asarray(h * np.exp(a * np.log(x) - x - lgamma(a)))


def _not_zero(x: Array) -> Array:
    return np.where(np.abs(x) < _TINY, _TINY, x)


def _igamma(a: Array, x: Array, *, upper: bool) -> Array:
    """Regularised incomplete gamma; NaN outside a > 0, x >= 0, but for no gamma below x = 0."""
    series = x < a + 1
    safe_a, safe_x = np.where(a > 0, a, 1.0), np.where((x > 0) & np.isfinite(x), x, 1.0)
    low = _gamma_series(safe_a, np.where(series, safe_x, np.minimum(safe_x, safe_a)))
    high = _gamma_fraction(safe_a, np.where(series, safe_a + 2, safe_x))
    out = np.where(series, 1 - low, high) if upper else np.where(series, low, 1 - high)
    out = np.where(x == 0, float(upper), np.where(np.isposinf(x), float(not upper), out))
    out = np.where(np.isposinf(a), np.where(np.isposinf(x), 0.0, float(upper)), out)
    inside = (a > 0) & (x >= 0)
    return np.where(inside if upper else inside | (x == 0), out, np.nan)


def _zeta_positive(x: Array, q: Array) -> Array:
    """Hurwitz zeta for x > 1 and q > 0: ten terms, then Euler and Maclaurin's formula (23.2.7)."""
    total = np.zeros_like(q)
    for k in range(10):
        total += (q + k) ** -x
    w = q + 10
    tail = w ** (1 - x) / (x - 1) + 0.5 * w**-x
    factor = x * w ** (-x - 1)
    for j, c in enumerate(_ZETA_SERIES):
        tail += c * factor
        factor = factor * (x + 2 * j + 1) * (x + 2 * j + 2) / (w * w)
    return np.asarray(total + tail)


def _zeta(x: Array, q: Array) -> Array:
    """Sum of (q + k)^-x over k >= 0; negative q only for whole x; infinite at poles."""
    safe_x = np.where((x > 1) & np.isfinite(x), x, 2.0)
    whole = safe_x == np.floor(safe_x)
    below = np.where((q < 0) & np.isfinite(q), np.ceil(-q), 0.0)
    inside = np.where(q == np.floor(q), np.maximum(q, 1.0), q)
    out = _zeta_positive(safe_x, np.where(below > 0, inside + below, inside))
    # The terms with a negative base are a finite piece of another zeta function.
    first = np.where(below > 0, np.abs(-inside - below + 1), 1.0)
    piece = _zeta_positive(safe_x, first) - _zeta_positive(safe_x, first + below)
    out = out + np.where(below > 0, np.where(safe_x % 2 == 0, piece, -piece), 0.0)
    # At a pole both sides agree only where x is even.
    pole = (q <= 0) & (q == np.floor(q))
    out = np.where(pole & (safe_x % 2 == 0), np.inf, out)
    bad = (pole & (safe_x % 2 != 0)) | ((q <= 0) & ~whole) | (x < 1) | np.isnan(x + q)
    out = np.where(x == 1, np.inf, np.where(bad, np.nan, out))
    limit = np.where(q == 1, 1.0, np.where(q < 1, np.inf, 0.0))
    return np.where(np.isposinf(x) & ~np.isnan(q), limit, out)


def _polygamma(n: Array, x: Array) -> Array:
    """The n-th derivative of digamma; NaN unless n is whole and not negative."""
    order = np.where(n >= 1, n, 1.0)
    sign = np.where(order % 2 == 0, -1.0, 1.0)
    out = sign * np.exp(lgamma(order + 1)) * _zeta(order + 1, x)
    return np.where(n == 0, digamma(x), np.where((n >= 1) & (n == np.floor(n)), out, np.nan))


def _beta_fraction(a: Array, b: Array, x: Array) -> Array:
    """The continued fraction of the incomplete beta function (26.5.8), by Lentz's method."""
    c = np.ones_like(x)
    d = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    h = d.copy()
    for m in range(1, _ROUNDS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for factor in (even, odd):
            d = 1 / _not_zero(1 + factor * d)
            c = _not_zero(1 + factor / c)
            h *= d * c
        if not (np.abs(d * c - 1) > _EPSILON * 4).any():
            break
    return h


def _betainc(a: Array, b: Array, x: Array) -> Array:
    """Regularised incomplete beta; NaN outside a, b > 0 and 0 <= x <= 1."""
    valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    a, b, inner = np.where(valid, a, 1.0), np.where(valid, b, 1.0), np.where(valid, x, 0.5)
    inner = np.where((inner == 0) | (inner == 1), 0.5, inner)
    front = np.exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * np.log(inner) + b * np.log1p(-inner))
    direct = inner < (a + 1) / (a + b + 2)
    p, q, y = np.where(direct, a, b), np.where(direct, b, a), np.where(direct, inner, 1 - inner)
    part = front * _beta_fraction(p, q, y) / p
    out = np.where(direct, part, 1 - part)
    return np.where(valid, np.where((x == 0) | (x == 1), x, out), np.nan)


def _wide(call: Call, *values: Array) -> list[Any]:
    """The arguments in float64, broadcast to their common shape."""
    shape = broadcast_shape(call, *values)
    return [np.broadcast_to(v.astype(np.float64), shape) for v in values]


@kernel("Igamma", "Igammac")
@quiet
def igamma(call: Call, a: Array, x: Array) -> Array:
    """Lower (Igamma) or upper (Igammac) regularised incomplete gamma function."""
    return _igamma(*_wide(call, a, x), upper=call.op == "Igammac").astype(a.dtype)


@kernel("Zeta")
@quiet
def zeta(call: Call, x: Array, q: Array) -> Array:
    """Hurwitz's ``sum over n >= 0 of (q + n) ** -x``, broadcast; computed in float64.

    Source: ten terms, then Abramowitz and Stegun 23.2.7.
    """
    return _zeta(*_wide(call, x, q)).astype(x.dtype)


@kernel("Polygamma")
@quiet
def polygamma(call: Call, a: Array, x: Array) -> Array:
    """Derivative of order ``a`` of digamma."""
    return _polygamma(*_wide(call, a, x)).astype(a.dtype)


@kernel("Betainc")
@quiet
def betainc(call: Call, a: Array, b: Array, x: Array) -> Array:
    """Regularised incomplete beta function; the arguments have one shape, or are scalars."""
    shapes = {v.shape for v in (a, b, x) if v.ndim > 0}
    call.require(
        len(shapes) <= 1,
        "arguments must be scalars or have one shape",
        found=", ".join(str(list(s)) for s in sorted(shapes)),
    )
    return _betainc(*_wide(call, a, b, x)).astype(a.dtype)
