"""Random numbers of several distributions, candidate sampling, and what is near to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from parity.draft import Draft, Rule
from parity.drawers import broadcast_with, choice, integers, scalar, shaped, some, unit
from parity.rules.images import KEYED, seed


def _shape_below(name: str) -> Any:
    """A shape that ends with that of an input; now and then one that does not."""

    def draw(d: Draft) -> Any:
        dims = (*d.any_shape(2), *np.shape(d[name]))
        if d.chance(0.06):
            dims = (*dims[:-1], 7)
        return np.array(dims, np.int64).astype(d.dtype("shape").np)

    return draw


def _rates(low: float, high: float) -> Any:
    def draw(d: Draft) -> Any:
        shape = d.any_shape(2)
        wide = np.exp(d.rng.uniform(np.log(low), np.log(high), shape))
        return np.asarray(wide).astype(d.dtype(d.making).np)

    return draw


def _binomial_shape(d: Draft) -> Any:
    end = np.broadcast_shapes(np.shape(d["counts"]), np.shape(d["probs"]))
    return np.array((*d.any_shape(2), *end), np.int64).astype(d.dtype("shape").np)


def _probs(d: Draft) -> Any:
    shape = d.pair_of(np.shape(d["counts"]))
    return np.asarray(d.rng.uniform(-0.1, 1.1, shape)).astype(d.dtype("probs").np)


def _bounded_shape(d: Draft) -> Any:
    end = np.broadcast_shapes(*(np.shape(d[name]) for name in _BOUNDED))
    return np.array((*d.any_shape(2), *end), np.int64).astype(d.dtype("shape").np)


def _bound(low: float, high: float) -> Any:
    def draw(d: Draft) -> Any:
        shape = d.pick((), (), d.shape("k"))
        return np.asarray(d.rng.uniform(low, high, shape)).astype(d.dtype(d.making).np)

    return draw


_BOUNDED = {
    "means": _bound(-2, 2),
    "stddevs": _bound(0.3, 2),
    "minvals": _bound(-3, 3),
    "maxvals": _bound(3.2, 5),
}
_FITTED = {"int8": "float32", "int16": "float32", "int32": "float64", "int64": "float64"}

RULES: dict[str, Rule] = {
    "StatelessRandomGammaV2": Rule(
        {"alpha": _rates(0.3, 500), "shape": _shape_below("alpha"), "seed": seed}, spoil=False
    ),
    "StatelessRandomGammaV3": Rule(
        KEYED | {"alpha": _rates(0.3, 500), "shape": _shape_below("alpha")}, spoil=False
    ),
    "StatelessRandomPoisson": Rule(
        {"lam": _rates(0.1, 2000), "shape": _shape_below("lam"), "seed": seed}, spoil=False
    ),
    "StatelessRandomBinomial": Rule(
        {"counts": _rates(1, 5000), "probs": _probs, "shape": _binomial_shape, "seed": seed},
        spoil=False,
    ),
    "IgammaGradA": Rule(
        {"a": some(3), "x": broadcast_with("a")},
        tol=100,
        why="a series of float32 in TensorFlow",
    ),
    "RandomGammaGrad": Rule(
        {"alpha": _rates(0.05, 9), "sample": broadcast_with("alpha")},
        special=False,  # far out, TensorFlow's float32 density is zero
        tol=100,
        why="a series of float32 in TensorFlow",
    ),
    "StatelessParameterizedTruncatedNormal": Rule(
        _BOUNDED | {"shape": _bounded_shape, "seed": seed},
        spoil=False,
        tol=4,
        why="exponentials in float32",
    ),
    "RandomIndexShuffle": Rule(
        {
            "index": integers("n", 0, 60),
            "seed": lambda d: d.rng.integers(0, 99, d.shape("n 3")).astype(d.dtype("seed").np),
            "max_index": integers("n", 60, 9999),
            "rounds": choice(4, 6, 8),
        },
        dims={"n": (1, 9)},
        spoil=False,  # TensorFlow reads beyond its keys, or never ends
    ),
    "KMC2ChainInitialization": Rule({"distances": shaped("n"), "seed": scalar(-9, 99)}),
    # Where a few points are left, two are each other's nearest: which one is better is rounding.
    "KmeansPlusPlusInitialization": Rule(
        {
            "points": unit("n d", -3, 3),
            "num_to_sample": scalar(1, 5),
            "seed": scalar(0, 99),
            "num_retries_per_sample": scalar(-1, 4),
        },
        dims={"n": (30, 60), "d": (1, 3)},
        spoil=False,
    ),
    "NearestNeighbors": Rule(
        {"points": shaped("n d"), "centers": shaped("m d"), "k": scalar(0, 9)},
        dims={"n": (1, 9), "m": (0, 9), "d": (1, 4)},
        special=False,
        tol=10,
        why="differences of products",
    ),
    "IsotonicRegression": Rule(
        {"input": some(3), "output_dtype": lambda d: _FITTED.get(d["T"], d["T"])}, spoil=False
    ),
    "SdcaFprint": Rule({"input": shaped("n")}),
    "ComputeAccidentalHits": Rule(
        {
            "true_classes": lambda d: d.rng.integers(0, 12, d.shape("n m")),
            "sampled_candidates": lambda d: d.rng.integers(0, 12, d.shape("k")),
            "num_true": lambda d: max(d.dim("m"), 1),
        },
        dims={"m": (1, 3)},
    ),
}
