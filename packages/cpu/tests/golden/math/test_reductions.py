"""Reductions of many forms and sizes against NumPy: rows, columns, in between, and all of it."""

from __future__ import annotations

from typing import Any

import native_ops
import numpy as np
import pytest

SHAPES = [
    (70_000,),
    (3, 40_000),
    (40_000, 3),
    (1500, 33),
    (33, 1500),
    (2, 5000),
    (5000, 2, 3),
    (6, 4, 300),
    (3, 1100, 70),
    (4, 3, 5, 2, 3),
    (2, 1, 3, 1, 2, 2, 1, 2),
    (3, 0, 2),
    (),
]


def _axes(rank: int, rng: np.random.Generator) -> list[list[int]]:
    some = [[], list(range(rank)), list(range(0, rank, 2))]  # the last: short runs of many rows
    for _ in range(6):
        chosen = [a for a in range(rank) if rng.random() < 0.5]
        some.append([a - rank if rng.random() < 0.5 else a for a in chosen])
    return some


def _run(op: str, x: Any, axes: list[int], keep: bool) -> Any:
    native_ops.load()
    return native_ops.run_native(op, x, np.array(axes, np.int64), keep_dims=keep)[0]


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_integers_are_exact(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    x = rng.integers(-(2**31), 2**31 - 1, shape).astype(np.int32)
    for axes in _axes(len(shape), rng):
        at, keep = tuple(axes), bool(rng.random() < 0.5)
        total = np.sum(x, axis=at, keepdims=keep, dtype=np.int32)
        np.testing.assert_array_equal(_run("Sum", x, axes, keep), total, strict=True)
        lowest = np.min(x, axis=at, keepdims=keep, initial=np.iinfo(np.int32).max)
        np.testing.assert_array_equal(_run("Min", x, axes, keep), lowest)
        every = np.all(x > -(2**30), axis=at, keepdims=keep)
        np.testing.assert_array_equal(_run("All", x > -(2**30), axes, keep), every)


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_of_floats_lose_little(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    x = rng.random(shape, np.float32)
    for axes in _axes(len(shape), rng):
        total = np.sum(x.astype(np.float64), axis=tuple(axes))
        np.testing.assert_allclose(_run("Sum", x, axes, False), total, rtol=1e-6)
        with np.errstate(all="ignore"):
            mean = np.float32(total) / np.float32(x.size / max(total.size, 1) if x.size else 0)
        np.testing.assert_allclose(_run("Mean", x, axes, False), mean, rtol=1e-6)


def test_one_nan_is_the_extreme_wherever_it_is() -> None:
    x = np.zeros((3, 700), np.float32)
    for place in (0, 15, 64, 699):
        with_nan = x.copy()
        with_nan[1, place] = np.nan
        for op in ("Max", "Min"):
            np.testing.assert_array_equal(_run(op, with_nan, [1], False), [0, np.nan, 0])
            column = _run(op, with_nan, [0], False)
            assert np.isnan(column[place])
            assert np.isfinite(column).sum() == 699


@pytest.mark.parametrize("op", ["Sum", "Mean", "Prod", "Max", "Min"])
def test_one_element_stays_as_it_is(op: str) -> None:
    x = np.array([[-0.0], [np.nan], [-np.inf], [3.5]], np.float32)
    for axes in ([], [1], [-1]):
        for keep in (False, True):
            got = _run(op, x, axes, keep)
            assert got.shape == ((4,) if axes and not keep else (4, 1))
            assert got.tobytes() == x.tobytes()


def test_the_norm_of_one_element_is_its_size() -> None:
    np.testing.assert_array_equal(
        _run("EuclideanNorm", np.array([[-2]], np.float32), [1], False), [2.0]
    )
