"""What the cases of ops are drawn from: shapes, numbers, attributes; and the table of cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st

from drystone_base.core.dtypes import as_dtype

__all__ = [
    "CASES", "COMPLEX", "FLOATS", "SMALLEST", "WHOLE", "Array", "Case", "Draw", "axes",
    "broadcastable", "case", "numbers", "shape", "special", "typed",
]  # fmt: skip

Array = np.ndarray[Any, Any]
Case = tuple[list[Any], dict[str, Any], tuple[int, ...], int]
"""Inputs, attributes, which inputs are constants, how many outputs are compared."""
Draw = Callable[[Any], Any]

CASES: Final[dict[str, Callable[[Draw, str], Case]]] = {}
SMALLEST: Final = {"dimension": 1}
"""What the smallest dimension may be: one test sets it to 0."""
COMPLEX: Final = ("complex64", "complex128")
FLOATS: Final = ("float32", "float64", "float16", "bfloat16")
WHOLE: Final = ("int32", "int64", "int8", "uint8")
EXTREMES: Final = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.5, 1e-3)


def case(*ops: str) -> Callable[[Callable[[Draw, str], Case]], Callable[[Draw, str], Case]]:
    """Make a function draw the cases of these ops."""

    def register(function: Callable[[Draw, str], Case]) -> Callable[[Draw, str], Case]:
        CASES.update(dict.fromkeys(ops, function))
        return function

    return register


def shape(draw: Draw, least: int = 0, most: int = 3, largest: int = 4) -> tuple[int, ...]:
    """A shape, without a dimension of no elements unless a test asks for them."""
    return tuple(
        draw(st.lists(st.integers(SMALLEST["dimension"], largest), min_size=least, max_size=most))
    )


def numbers(draw: Draw, size: tuple[int, ...], dtype: str = "float32") -> Array:
    """Ordinary numbers; few are whole, none is very large."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    if dtype == "bool":
        return rng.random(size) < 0.5
    kind = as_dtype(dtype).np
    if dtype in WHOLE:
        low = 0 if dtype.startswith("u") else -5
        return np.asarray(rng.integers(low, 6, size), kind)
    if dtype in COMPLEX:
        return np.asarray(rng.normal(size=size) + 1j * rng.normal(size=size), kind)
    return np.asarray(rng.normal(size=size), kind)


def special(draw: Draw, size: tuple[int, ...], dtype: str) -> Array:
    """Numbers among which are zeros of both signs, infinities and no numbers."""
    made = numbers(draw, size, dtype)
    if dtype in FLOATS and made.size:
        flat = made.reshape(-1)
        for k, value in enumerate(draw(st.lists(st.sampled_from(EXTREMES), max_size=4))):
            flat[k % flat.size] = value
    return made


def typed(dtype: str) -> dict[str, Any]:
    """The attribute that most ops have."""
    return {"T": as_dtype(dtype)}


def broadcastable(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that go together."""
    whole = shape(draw)
    pairs = []
    for _ in range(2):
        kept = whole[draw(st.integers(0, len(whole))) :]
        pairs.append(tuple(1 if draw(st.booleans()) else n for n in kept))
    return pairs[0], pairs[1]


def axes(draw: Draw, rank: int) -> Array:
    """Some axes, each once, from the front or from the end."""
    every = st.lists(st.integers(0, max(rank - 1, 0)), unique=True, max_size=rank)
    found = [k - rank if draw(st.booleans()) else k for k in draw(every)]
    return np.asarray(found, np.int32)
