"""Special functions defined by integrals: Dawson's, exponential, Fresnel's, and the dilogarithm.

Source: TensorFlow ops of the same names. Computed in float64 from Abramowitz and Stegun, *Handbook
of Mathematical Functions*, chapters 5, 7 and 27; Dawson's by Rybicki's sampling (Computers in
Physics 3, 1989).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from drystone_base.kernels._registry import Array, kernel
from drystone_base.kernels.math._elementwise import Function
from drystone_base.kernels.math._quadrature import unit_interval
from drystone_base.kernels.math.special import in_float64

_EULER: Final = 0.5772156649015329
_STEP: Final = 0.2
_FAR: Final = 1e3
_POINTS: Final = 64


def _dawson(x: Array) -> Array:
    """e^(-x^2) times the integral of e^(t^2) from 0 to x."""
    square = x * x
    series, term = np.zeros_like(x), x.copy()
    for k in range(15):
        series += term
        term = term * (-2 * square) / (2 * k + 3)
    near = np.clip(x, -_FAR, _FAR)
    even = 2 * np.round(near / (2 * _STEP))
    rest = near - even * _STEP
    sampled = np.zeros_like(x)
    for k in range(-35, 36, 2):
        sampled += np.exp(-((rest - k * _STEP) ** 2)) / (even + k)
    far = (1 + 0.5 / square + 0.75 / square**2) / (2 * x)
    size = np.abs(x)
    middle = np.where(size < _FAR, sampled / math.sqrt(math.pi), far)
    return np.where(size < 0.2, series, middle)


def _expint(x: Array) -> Array:
    """Principal value of the integral of e^t / t up to x > 0; NaN for negative x."""
    near = np.clip(x, 0, 40.0)
    total, term = np.zeros_like(x), np.ones_like(x)
    for k in range(1, 150):
        term = term * near / k
        total += term / k
    far = np.zeros_like(x)
    for k in range(40, 0, -1):
        far = (1 + far) * k / np.maximum(x, 40.0)
    out = np.where(x <= 40, _EULER + np.log(near) + total, np.exp(x) / x * (1 + far))
    out = np.where(np.isposinf(x), np.inf, out)
    return np.where(x < 0, np.nan, np.where(x == 0, -np.inf, out))


def _fresnel_far(x: Array) -> tuple[Array, Array]:
    """The slowly varying parts f and g for x >= 5: 7.3.27 and 7.3.28."""
    z = np.pi * x * x
    f, g = np.zeros_like(x), np.zeros_like(x)
    up, across = np.ones_like(x), 1 / z
    for m in range(16):
        f += up
        g += across
        up = -up * (4 * m + 1) * (4 * m + 3) / (z * z)
        across = -across * (4 * m + 3) * (4 * m + 5) / (z * z)
    return f / (np.pi * x), g / (np.pi * x)


def _fresnel(x: Array, wave: Function, *, sine: bool) -> Array:
    """Integral of ``wave(pi t^2 / 2)`` from 0 to x."""
    size = np.abs(x)
    near = np.minimum(size, 5.0)
    total = np.zeros_like(x)
    for node, weight in zip(*unit_interval(_POINTS), strict=True):
        total += weight * wave(np.pi / 2 * (near * node) ** 2)
    f, g = _fresnel_far(np.maximum(size, 5.0))
    turn = np.pi / 2 * np.fmod(np.where(np.isfinite(size), size, 5.0) ** 2, 4.0)
    sin, cos = np.sin(turn), np.cos(turn)
    far = 0.5 - f * cos - g * sin if sine else 0.5 + f * sin - g * cos
    out = np.where(size <= 5, near * total, np.where(np.isposinf(size), 0.5, far))
    return np.where(np.isnan(x), np.nan, np.where(x < 0, -out, out))


def _spence(x: Array) -> Array:
    """Minus the integral of log(t) / (t - 1) from 1 to x >= 0: the dilogarithm of 1 - x (27.7)."""
    outer = x > 1.5
    y = np.where(outer, 1 / x, x)
    mirrored = y < 0.5
    z = np.where(mirrored, y, 1 - y)
    total, power = np.zeros_like(x), np.ones_like(x)
    for k in range(1, 60):
        power = power * z
        total += power / (k * k)
    logs = np.where(y > 0, np.log(y) * np.log1p(-y), 0.0)
    inner = np.where(mirrored, math.pi**2 / 6 - logs - total, total)
    out = np.where(outer, -inner - np.log(x) ** 2 / 2, inner)
    return np.where(x < 0, np.nan, out)


_FUNCTIONS: Final[dict[str, Function]] = {
    "Dawsn": _dawson,
    "Expint": _expint,
    "FresnelSin": lambda x: _fresnel(x, np.sin, sine=True),
    "FresnelCos": lambda x: _fresnel(x, np.cos, sine=False),
    "Spence": _spence,
}

for _op, _function in _FUNCTIONS.items():
    kernel(_op)(in_float64(_function))
