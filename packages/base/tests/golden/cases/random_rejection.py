"""Cases of gamma, Poisson and binomial numbers: the streams are TensorFlow's.

As in ``random``, no two cases of a stateful op share seeds and types.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from oracle import Case, case

I32 = np.int32
SHAPE = np.array([40], I32)
SEED = np.array([5, -9], np.int64)
KEY, COUNTER = np.array([2**63 + 5], np.uint64), np.array([2**64 - 2, 9], np.uint64)
ALPHA = np.array([0.2, 0.7, 1, 2.5, 100, 1e4])
RATE = np.array([0, 0.5, 3, 9.9, 10, 17, 200, 30000])
COUNTS = np.array([[0], [-1], [5], [40], [1000], [30000]])
PROBS = np.array([0, -0.5, 0.1, 0.4, 0.5, 0.7, 0.99, 1, 1.5])
REAL: tuple[Any, ...] = (np.float32, np.float64, np.float16)
ANY: tuple[Any, ...] = (*REAL, np.int32, np.int64)
BENT = {np.float32: 1e-6, np.float64: 1e-12, np.float16: 1e-3}


def _below(*end: int) -> np.ndarray[Any, Any]:
    return np.array([20, *end], I32)


def _gamma(seeds: Iterator[int]) -> list[Case]:
    out: list[Case] = []
    for t in REAL:
        alpha = ALPHA.astype(t)
        out += [
            case("RandomGamma", SHAPE, alpha, seed=next(seeds), tol=BENT[t]),
            case("StatelessRandomGammaV2", _below(6), SEED, alpha, tol=BENT[t]),
        ]
        out += [
            case("StatelessRandomGammaV3", _below(6), KEY, COUNTER, I32(k), alpha, tol=BENT[t])
            for k in (1, 2, 3)
        ]
    one = np.float32(1)
    out += [
        case("RandomGamma", s, ALPHA[:n].astype(np.float32), seed=next(seeds))
        for s in (SHAPE[:0], np.array([0, 3]), np.array([-1]), np.array([2, 3]), I32(3))
        for n in (0, 2)
    ]
    out += [
        case("StatelessRandomGammaV2", _below(*end), SEED, np.ones(given, np.float32))
        for end, given in (((), ()), ((3,), (3,)), ((3,), (1,)), ((3,), (20, 3, 1)), ((0,), (5,)))
    ]
    return [*out, case("StatelessRandomGammaV2", SHAPE, SEED[:1], one)]


def _poisson(seeds: Iterator[int]) -> list[Case]:
    out: list[Case] = []
    for given, wanted in itertools.product(ANY, ANY):
        name, rate = np.dtype(wanted).name, RATE.astype(given)
        out.append(case("RandomPoissonV2", SHAPE, rate, seed=next(seeds), dtype=name, tol=0))
        out.append(case("StatelessRandomPoisson", _below(8), SEED, rate, dtype=name, tol=0))
    out += [
        case("RandomPoissonV2", s, RATE[:n], seed=next(seeds))
        for s in (SHAPE[:0], np.array([0, 3]), np.array([-1]), np.array([2, 3]), I32(3))
        for n in (0, 2)
    ]
    out += [case("RandomPoissonV2", SHAPE, np.array([-2.5, -0.0]), seed=next(seeds))]
    out += [
        case("StatelessRandomPoisson", _below(*end), SEED, np.ones(given), dtype="float32")
        for end, given in (((), ()), ((3,), (3,)), ((3,), (1,)), ((0,), (5,)))
    ]
    return out


def _binomial() -> list[Case]:
    out: list[Case] = []
    for given, wanted in itertools.product(REAL, ANY):
        counts, probs = COUNTS.astype(given), PROBS.astype(given)
        name = np.dtype(wanted).name
        where = _below(6, 9)
        out.append(case("StatelessRandomBinomial", where, SEED, counts, probs, dtype=name, tol=0))
    five, half = np.float32([5]), np.float32([0.5, np.nan])
    out += [
        case("StatelessRandomBinomial", np.array(s, I32), SEED, n, p, dtype="float32")
        for s, n, p in (
            ([4, 2], five, half), ([2], five, half), ([4, 3], five, half), ([0, 2], five, half),
            ([4, 2], five, np.ones(3, np.float32)), ([], five[0], half[0]),
        )
    ]  # fmt: skip
    return out


def _gradients() -> list[Case]:
    rng = np.random.default_rng(3)
    special = np.array([np.nan, np.inf, -np.inf, 0, -0.0, -1, 0.5, 1, 2.5])
    out: list[Case] = []
    for op, t in itertools.product(("IgammaGradA", "RandomGammaGrad"), (np.float32, np.float64)):
        tol = 1e-4 if t is np.float32 else 1e-10
        a, x = np.exp(rng.uniform(-2, 3, (2, 60))).astype(t)
        near = (a * np.exp(rng.normal(0, 0.3, 60))).astype(t)
        out += [case(op, a, v, tol=tol) for v in (x, near)]
        out.append(case(op, special.astype(t), special.astype(t)[:, None], tol=tol))
        out.append(case(op, a[:3], x[:2]))
        out.append(case(op, a[:0], x[:1]))
    return out


_SEEDS = itertools.count(1)
CASES = [*_gamma(_SEEDS), *_poisson(_SEEDS), *_binomial(), *_gradients()]
