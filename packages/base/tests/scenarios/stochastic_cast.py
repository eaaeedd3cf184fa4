"""Rounding by chance: TensorFlow's own chances."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from stateful import i32

from scenarios import Program, scenario
from scenarios._draw import pick

FLOATS: list[Any] = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
ODD = [0.0, -0.0, np.nan, np.inf, -np.inf, 127.5, -128.5, 3e4, -4e4, 1e30, -1e30, 0.5, -0.5]


def cast(p: Program, x: Any, key: Any, counter: Any, alg: Any, to: str) -> None:
    p.step(p("StochasticCastToInt", x, key, counter, alg, Tout=to))


@scenario(draws=48)
def rounded(p: Program, rng: np.random.Generator) -> None:
    size = int(pick(rng, [1, 5, 8, 12, 16, 37, 100]))
    fraction = rng.choice([0, 0.25, 0.5, 0.75], size) if rng.integers(2) else rng.random(size)
    x = (rng.integers(-20, 20, size) + fraction).astype(pick(rng, FLOATS))
    key, counter = (rng.integers(0, 2**63, n).astype(np.uint64) for n in (1, 2))
    for to in ("int8", "int16", "int32"):
        cast(p, x, key, counter, i32(pick(rng, [1, 3])), to)


@scenario()
def extremes(p: Program) -> None:
    key, counter = np.array([5], np.uint64), np.array([1, 2], np.uint64)
    for dtype in FLOATS:
        with np.errstate(over="ignore"):
            x = np.array(ODD).astype(dtype)
        for to in ("int8", "int16", "int32"):
            cast(p, x, key, counter, i32(1), to)
            cast(p, x[:0], key, counter, i32(1), to)
            cast(p, x[1:3].reshape(2, 1), key, counter, i32(1), to)


@scenario()
def refused(p: Program) -> None:
    x, key, counter = p.feed("float32"), np.array([5], np.uint64), np.array([1, 2], np.uint64)
    for alg in (0, 2, 7):
        made = p("StochasticCastToInt", x, key, counter, i32(alg), Tout="int8")
        p.step(made, feeds={x: np.ones(3, "f4")})


@scenario()
def misshapen(p: Program) -> None:
    key = np.array([5, 6], np.uint64)
    cast(p, np.ones(3, "f4"), key, key, i32(1), "int8")
