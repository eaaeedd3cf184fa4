"""Small random values for scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import as_array

__all__ = ["numbers", "pick", "values"]

WORDS = ["", "a", "bc", "d e", "Fg", "hij", "k", "lmno", "pq", "r"]


def pick(rng: np.random.Generator, items: Sequence[Any]) -> Any:
    """One of them."""
    return items[int(rng.integers(len(items)))]


def numbers(rng: np.random.Generator, dtype: str, shape: Any) -> np.ndarray[Any, Any]:
    """Small numbers of a dtype, none zero."""
    return np.asarray(rng.integers(1, 9, shape)).astype(as_dtype(dtype).np)


def values(rng: np.random.Generator, dtype: str, shape: Any, *, unique: bool = False) -> Any:
    """Small values of any dtype, words for strings; ``unique`` ones differ, as far as ten go."""
    count = int(np.prod(shape, dtype=int))
    drawn = rng.permutation(10)[:count] if unique else rng.integers(0, 10, count)
    if dtype == "string":
        return as_array(np.array([WORDS[k] for k in drawn], object).reshape(shape).astype("S"))
    if dtype == "bool":
        return (drawn % 2 == 1).reshape(shape)
    return drawn.reshape(shape).astype(as_dtype(dtype).np)
