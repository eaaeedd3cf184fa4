"""Derivatives of the gamma distribution by its shape parameter.

Source: TensorFlow ops of the same names. The series and the continued fraction of Abramowitz and
Stegun, *Handbook of Mathematical Functions*, 6.5.29 and 6.5.31, differentiated term by term.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.math._elementwise import broadcast_shape
from drystone_base.kernels.math.special import digamma, lgamma

_ROUNDS: Final = 2000
_EPSILON: Final = 1e-17
_BIG: Final = 1e150

Pair: TypeAlias = tuple[Array, Array]
"""A function's value and its derivative by the shape parameter."""


def _series(a: Array, x: Array) -> Pair:
    """The sum of x^n / ((a+1) ... (a+n)), for x up to a."""
    total, slope = np.ones_like(x), np.zeros_like(x)
    term, harmonic = np.ones_like(x), np.zeros_like(x)
    for n in range(1, _ROUNDS):
        term = term * x / (a + n)
        harmonic = harmonic + 1 / (a + n)
        total = total + term
        slope = slope - term * harmonic
        if not (term * np.maximum(harmonic, 1) > total * _EPSILON).any():
            break
    return total, slope


def _fraction(a: Array, x: Array) -> Pair:
    """The continued fraction of the upper function, for x beyond a."""
    z = x + 2 - a
    # Numerators and denominators of the last two convergents, with their derivatives.
    p, dp, p_last, dp_last = x + 1, np.zeros_like(x), np.ones_like(x), np.zeros_like(x)
    q, dq, q_last, dq_last = z * x, -x, x, np.zeros_like(x)
    value, slope = p / q, -p * dq / (q * q)
    for n in range(1, _ROUNDS):
        z = z + 2
        part = (1 - a + n) * n
        p, p_last, dp, dp_last = (
            p * z - p_last * part,
            p,
            dp * z - p - dp_last * part + p_last * n,
            dp,
        )
        q, q_last, dq, dq_last = (
            q * z - q_last * part,
            q,
            dq * z - q - dq_last * part + q_last * n,
            dq,
        )
        safe = np.where(q == 0, 1.0, q)
        new, bent = p / safe, (dp - p / safe * dq) / safe
        moved = np.abs(new - value) + np.abs(bent - slope)
        value, slope = new, bent
        if not (moved > _EPSILON * 10 * (np.abs(value) + np.abs(slope))).any():
            break
        scale = np.where(np.abs(q) + np.abs(dq) > _BIG, 1 / _BIG, 1.0)
        p, p_last, dp, dp_last = (v * scale for v in (p, p_last, dp, dp_last))
        q, q_last, dq, dq_last = (v * scale for v in (q, q_last, dq, dq_last))
    return value, slope


def _gradient(
    call: Call, a: Array, x: Array, finish: Callable[[Array, Array, Array, Array], Array]
) -> Array:
    """``finish`` of a, x, the logarithmic slope of either expansion, and which one it is."""
    shape = broadcast_shape(call, a, x)
    wide_a, wide_x = (np.broadcast_to(v, shape).astype(np.float64) for v in (a, x))
    good = (wide_a > 0) & (wide_x > 0) & np.isfinite(wide_a) & np.isfinite(wide_x)
    shape_of, at = np.where(good, wide_a, 1.0), np.where(good, wide_x, 1.0)
    upper = (at > 1) & (at > shape_of)
    low, low_slope = _series(shape_of, np.where(upper, shape_of, at))
    high, high_slope = _fraction(np.where(upper, shape_of, 1.0), np.where(upper, at, 2.0))
    log = np.log(at)
    slope = np.where(
        upper,
        -(high_slope + high * (log - digamma(shape_of))) * shape_of,
        low_slope + low * (log - digamma(shape_of + 1)),
    )
    out = finish(shape_of, at, slope, log)
    flat = (wide_x == 0) | ((wide_a > 0) & (wide_x > 0) & (np.isinf(wide_a) | np.isinf(wide_x)))
    return np.where(good, out, np.where(flat, 0.0, np.nan)).astype(a.dtype)


@kernel("IgammaGradA")
@quiet
def igamma_grad_a(call: Call, a: Array, x: Array) -> Array:
    """The slope of the lower regularised incomplete gamma function by its first argument."""
    return _gradient(
        call, a, x, lambda a, x, slope, log: slope * np.exp(a * log - x - lgamma(a + 1))
    )


@kernel("RandomGammaGrad")
@quiet
def random_gamma_grad(call: Call, alpha: Array, sample: Array) -> Array:
    """How a sample of the gamma distribution moves with its shape parameter."""
    return _gradient(call, alpha, sample, lambda a, x, slope, _: -slope * x / a)
