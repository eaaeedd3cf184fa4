"""Subnormal numbers in the inputs of a case: TensorFlow's CPU kernels take them for zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
from oracle import Case

__all__ = ["finfo", "has_subnormal", "without_subnormals"]

finfo: Callable[[np.dtype[Any]], Any] = ml_dtypes.finfo


def has_subnormal(item: Case) -> bool:
    """Whether an input holds a subnormal number."""
    return any(bool(_where(np.asarray(v)).any()) for v in item.inputs)


def without_subnormals(item: Case) -> Case:
    """The case with zeros of the same signs for subnormal numbers."""
    inputs = []
    for value in item.inputs:
        array = np.asarray(value)
        where = _where(array)
        inputs.append(np.where(where, array * 0, array) if where.any() else array)
    return replace(item, inputs=tuple(inputs))


def _where(array: Any) -> Any:
    if "float" not in array.dtype.name:
        return np.zeros(array.shape, bool)
    wide = np.abs(array.astype(np.float64))
    return (wide > 0) & (wide < float(finfo(array.dtype).smallest_normal))
