"""Seeded random arrays for golden cases: the same on every machine and run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

__all__ = ["BFLOAT16", "Array", "Draw", "drawer", "floats", "ints", "tolerance"]

Array: TypeAlias = np.ndarray[Any, Any]
Draw: TypeAlias = Callable[..., Array]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def ints(*values: int, dtype: Any = np.int32) -> Array:
    """A vector of integers: sizes, axes and the like."""
    return np.array(values, dtype)


def floats(values: Any, dtype: Any = np.float32) -> Array:
    """An array of the given numbers."""
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float64).astype(dtype)


def drawer(seed: int, low: int = -9, high: int = 99) -> Draw:
    """A function ``draw(shape, dtype="f4", scale=1.0)`` of normal or small integer values.

    Integers lie in ``[low, high)``, from 0 up for unsigned ones.
    """
    rng = np.random.default_rng(seed)

    def draw(shape: Sequence[int], dtype: Any = "f4", scale: float = 1.0) -> Array:
        kind = np.dtype(dtype)
        if kind.kind in "iu":
            return rng.integers(0 if kind.kind == "u" else low, high, shape).astype(kind)
        if kind.kind == "b":
            return np.asarray(rng.random(shape) < 0.5)
        values = np.asarray(rng.normal(size=shape))
        if kind.kind == "c":
            values = values + 1j * rng.normal(size=shape)
        return np.asarray(values * scale).astype(kind)

    return draw


def tolerance(dtype: Any, factor: float = 1.0) -> float:
    """A bound for one rounding in ``dtype``, times ``factor``; 0 for integers."""
    kind = np.dtype(dtype)
    if kind.kind in "iub":
        return 0.0
    return {"float16": 2e-3, "bfloat16": 1.6e-2}.get(kind.name, 1e-5) * factor
