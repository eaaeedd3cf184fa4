"""Bitwise operations on two integer arguments. Source: TensorFlow ops of the same names."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, kernel
from drystone_base.kernels.math._elementwise import Function, binary


def _distance(x: Array, y: Array) -> Array:
    """Shift distances held inside ``[0, bits - 1]``, where hardware would differ."""
    return np.clip(y, 0, 8 * x.itemsize - 1)


def _left(x: Array, y: Array) -> Any:
    return np.left_shift(x, _distance(x, y))


def _right(x: Array, y: Array) -> Any:
    return np.right_shift(x, _distance(x, y))


_FUNCTIONS: Final[dict[str, Function]] = {
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "LeftShift": _left,
    "RightShift": _right,
}

for _op, _function in _FUNCTIONS.items():
    kernel(_op)(binary(_function))
