"""Cases of bounded normal numbers and shuffled indices: the streams are TensorFlow's."""

import itertools
from typing import Any

import numpy as np
from oracle import Case, case

I32 = np.int32
SEED = np.array([5, -9], np.int64)
INF = np.inf
BOUNDS = (
    (0, 1, -2, 2), (3, 2, -INF, 1), (0, 1, 3, INF), (0, 1, 1, 1.5), (0, 1, 4, 4.1),
    (0, 1, -0.5, 0.4), (5, 1, -1, 2), (0.5, 0.1, 0, 1),
)  # fmt: skip
WRONG = ((0, 0, 1, 2), (0, 1, 2, 1), (0, 1, -INF, INF), (np.nan, 1, 0, 1), (0, -1, 1, 2))
TOL = {np.float32: 2e-6, np.float64: 1e-12, np.float16: 2e-3}


def _truncated() -> list[Case]:
    seeds, out = itertools.count(1), []
    size, below = np.array([7, 30], I32), np.array([30, 7], np.int64)
    op, stateless = "ParameterizedTruncatedNormal", "StatelessParameterizedTruncatedNormal"
    for t, bounds in itertools.product((np.float32, np.float64, np.float16), BOUNDS):
        given: list[Any] = [t(v) for v in bounds]
        rows = [np.full(7, given[0], t), *given[1:]]
        out += [
            case(op, size, *given, seed=next(seeds), tol=TOL[t]),
            case(op, size, *rows, seed=next(seeds), tol=TOL[t]),
            case(stateless, below, SEED, *rows, tol=TOL[t]),
        ]
    for bounds in WRONG:
        given = [np.float32(v) for v in bounds]
        out += [case(op, size, *given, seed=next(seeds)), case(stateless, below, SEED, *given)]
    fine = [np.float32(v) for v in BOUNDS[0]]
    vector = np.zeros(3, np.float32)
    out += [case(op, s, *fine, seed=next(seeds)) for s in (size[:0], np.array([0, 3], I32))]
    out += [
        case(op, size, vector, *fine[1:], seed=next(seeds)),
        case(stateless, below, SEED, vector, *fine[1:]),
        case(stateless, np.array([0], I32), SEED, *fine),
        case(stateless, below, SEED[:1], *fine),
    ]
    return out


def _indices() -> list[Case]:
    rng, op = np.random.default_rng(4), "RandomIndexShuffle"
    out: list[Case] = []
    for t in (np.int32, np.int64, np.uint32, np.uint64):
        for last in (0, 1, 2, 5, 255, 256, 65535, 65536, 70000, 2**20, 2**31 - 1):
            index = rng.integers(0, last + 1, 20).astype(t)
            seed = rng.integers(0, 2**31, (20, 3)).astype(t)
            out.append(case(op, index, seed, np.full(20, last, t), rounds=4 + 2 * (last % 2)))
    for last in (2**32 - 1, 2**32, 2**40 + 3, 2**63 - 1, 2**64 - 1):
        index = rng.integers(0, last, 9, dtype=np.uint64)
        out.append(case(op, index, np.array([-1, 2, 3]), np.full(9, last, np.uint64)))
    one, three = I32(3), np.array([1, 2, 3], I32)
    many = np.arange(4, dtype=I32)
    return [
        *out,
        case(op, one, three, I32(9)),
        case(op, one, np.stack([three, three + 1]), I32(9)),
        case(op, one, three, many + 9),
        case(op, many, three, many[:3] + 9),
        case(op, many, np.stack([three, three]), I32(9)),
        case(op, one, three[:2], I32(9)),
        case(op, many[None], three, I32(9)),
        case(op, many[:0], three, I32(9)),
    ]


CASES = [*_truncated(), *_indices()]
