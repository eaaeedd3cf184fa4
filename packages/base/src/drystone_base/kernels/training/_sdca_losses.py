"""Losses of stochastic dual coordinate ascent: each with its dual and the step of one example.

Source: Shalev-Shwartz and Zhang, "Stochastic dual coordinate ascent methods" (2013); Ma and others,
"Adding vs. averaging in distributed primal-dual optimization" (2015).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

__all__ = ["LOSSES", "Loss"]

_NEWTON: Final = 10
_MOST: Final = sys.float_info.max


@dataclass(frozen=True)
class Loss:
    """What the optimizer asks of a loss; ``signed`` labels 0 and 1 stand for -1 and 1.

    ``update(y, dual, wx, step)`` is the best dual, where ``step`` is the example's weight times its
    normalised norm. ``primal`` and ``dual`` are given label and prediction, or label and dual.
    """

    update: Callable[[float, float, float, float], float]
    primal: Callable[[float, float], float]
    dual: Callable[[float, float], float]
    slope: Callable[[float, float], float]
    smoothness: float
    signed: bool
    """Whether labels are 0 and 1."""


def _log(x: float) -> float:
    return math.log(x) if x > 0 else 0.0


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _bounded(y: float, dual: float) -> float:
    """The nearest dual whose product with the label lies in [0, 1]."""
    if y * dual < 0:
        return 0.0
    return y if y * dual > 1 else dual


def _hinge(y: float, dual: float, wx: float, step: float) -> float:
    distance = (y - wx) / step if step else math.copysign(math.inf, y - wx) if y != wx else math.nan
    return _bounded(y, dual + distance)


def _hinge_dual(y: float, dual: float) -> float:
    return -y * dual if 0 <= y * dual <= 1 else _MOST


def _smooth(y: float, dual: float, wx: float, step: float) -> float:
    return _bounded(y, dual + (y - wx - dual) / (step + 1))


def _smooth_primal(y: float, wx: float) -> float:
    away = 1 - y * wx
    return 0.0 if away <= 0 else away - 0.5 if away >= 1 else 0.5 * away * away


def _smooth_dual(y: float, dual: float) -> float:
    return -y * dual + 0.5 * dual * dual if 0 <= y * dual <= 1 else _MOST


def _smooth_slope(y: float, wx: float) -> float:
    return 0.0 if y * wx >= 1 else -y if y * wx <= 0 else wx - y


def _logistic(y: float, dual: float, wx: float, step: float) -> float:
    x = 0.0
    for _ in range(_NEWTON):
        t = math.tanh(x)
        up = -2 * y * x - wx - step * (0.5 * (1 + t) / y - dual)
        x -= up / (-2 * y - step * (1 - t * t) * 0.5 / y)
    return 0.5 * (1 + math.tanh(x)) / y


def _logistic_primal(y: float, wx: float) -> float:
    return math.log1p(math.exp(-abs(y * wx))) + max(0.0, -y * wx)


def _logistic_dual(y: float, dual: float) -> float:
    p = y * dual
    return p * _log(p) + (1 - p) * _log(1 - p)


def _logistic_slope(y: float, wx: float) -> float:
    return -y / (1 + _exp(y * wx))


def _squared(y: float, dual: float, wx: float, step: float) -> float:
    return dual + (y - dual - wx) / (1 + step)


def _poisson(y: float, dual: float, wx: float, step: float) -> float:
    x = _log(y - dual)
    for _ in range(_NEWTON):
        rate = _exp(x)
        x -= (x - wx - step * (y - dual - rate)) / (1 + step * rate)
    return y - _exp(x)


def _poisson_dual(y: float, dual: float) -> float:
    rest = y - dual
    return 0.0 if rest == 0 else _MOST if rest < 0 else rest * (math.log(rest) - 1)


LOSSES: Final = {
    "logistic_loss": Loss(
        _logistic, _logistic_primal, _logistic_dual, _logistic_slope, 4.0, signed=True
    ),
    "squared_loss": Loss(
        _squared,
        lambda y, wx: 0.5 * (wx - y) ** 2,
        lambda y, dual: dual * (0.5 * dual - y),
        lambda y, wx: wx - y,
        1.0,
        signed=False,
    ),
    "hinge_loss": Loss(
        _hinge,
        lambda y, wx: max(0.0, 1 - y * wx),
        _hinge_dual,
        lambda y, wx: -y if y * wx < 1 else 0.0,
        0.0,
        signed=True,
    ),
    "smooth_hinge_loss": Loss(
        _smooth, _smooth_primal, _smooth_dual, _smooth_slope, 1.0, signed=True
    ),
    "poisson_loss": Loss(
        _poisson,
        lambda y, wx: _exp(wx) - wx * y,
        _poisson_dual,
        lambda y, wx: _exp(wx) - y,
        1.0,
        signed=False,
    ),
}
