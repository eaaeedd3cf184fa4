"""Cases of random ops with given seeds: the streams are TensorFlow's.

No two cases share op, seeds and types: TensorFlow would go on with the stream of the first.
"""

from typing import Any

import numpy as np
from oracle import Case, case

I32 = np.int32
SHAPE = np.array([3, 7], I32)
SEED = np.array([12345678901234, -7], np.int64)
KEY, COUNTER = np.array([2**63 + 5], np.uint64), np.array([2**64 - 2, 9], np.uint64)
FLOATS = ("float32", "float64", "float16", "bfloat16")
LOGITS = np.array([[0.1, -1, 2, -np.inf], [3, 3, 0, 0.5], [1, 1, 1, 1]], np.float32)


def _tolerance(op: str, dtype: str) -> float:
    return 0 if "Uniform" in op else {"float32": 1e-5, "float64": 1e-12}.get(dtype, 1e-2)


def _stateful() -> list[Case]:
    out: list[Case] = []
    for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        out += [
            case(op, SHAPE, seed=a, seed2=b, dtype=t, tol=_tolerance(op, t))
            for a, b in ((1, 2), (0, 87654321), (2**40, 5))
            for t in FLOATS
        ]
        out += [case(op, np.array(s, I32), seed=3, dtype="float32") for s in ([], [0, 2], [-1])]
        out.append(case(op, np.array([50], np.int64), seed=3, dtype="float32"))
    for t in (np.int32, np.int64):
        bounds = [(0, 10), (-5, 7), (3, 3), (4, 1), (np.iinfo(t).min, np.iinfo(t).max)]
        out += [
            case("RandomUniformInt", SHAPE, t(a), t(b), seed=5, seed2=k)
            for k, (a, b) in enumerate(bounds)
        ]
    rows = np.arange(22).reshape(11, 2)
    out += [case("RandomShuffle", x, seed=9, seed2=4) for x in (rows, rows[:1], np.float32(1))]
    out += [
        case("Multinomial", LOGITS.astype(t), I32(n), seed=1, seed2=2 + n)
        for n in (0, 1, 5, 8)
        for t in (np.float32, np.float64)
    ]
    return [
        *out,
        case("Multinomial", LOGITS, I32(6), seed=1, output_dtype="int32"),
        case("Multinomial", LOGITS[0], I32(6), seed=1),
        case("Multinomial", LOGITS, I32(-1), seed=1),
    ]


def _stateless() -> list[Case]:
    out: list[Case] = []
    for name in ("RandomUniform", "RandomNormal", "TruncatedNormal"):
        op = f"Stateless{name}"
        for t in FLOATS:
            tol = _tolerance(op, t)
            out += [case(op, SHAPE, SEED, dtype=t, tol=tol)]
            out += [case(f"{op}V2", SHAPE, KEY, COUNTER, I32(1), dtype=t, tol=tol)]
        out += [case(op, SHAPE, SEED[:1], dtype="float32")]
        out += [case(f"{op}V2", SHAPE, KEY, COUNTER, I32(k), dtype="float32") for k in (3, 7)]
    return [*out, *_stateless_integers()]


def _stateless_integers() -> list[Case]:
    out: list[Case] = []
    small: Any = np.array([3, 4], I32)
    for t in (np.int32, np.int64):
        low, high = t(-20), t(300)
        out += [case("StatelessRandomUniformInt", SHAPE, s, low, high) for s in (SEED, small)]
        out += [case("StatelessRandomUniformIntV2", SHAPE, KEY, COUNTER, I32(1), low, high)]
        out += [case("StatelessRandomUniformInt", SHAPE, SEED, high, low)]
    for name in ("int32", "int64", "uint32", "uint64"):
        out += [case("StatelessRandomUniformFullInt", SHAPE, SEED, dtype=name)]
        out += [case("StatelessRandomUniformFullIntV2", SHAPE, KEY, COUNTER, I32(1), dtype=name)]
    rows: list[Any] = [np.arange(22).reshape(11, 2), np.ones((1, 2)), np.float32(1)]
    out += [case("StatelessShuffle", v, KEY, COUNTER, I32(1)) for v in rows]
    out += [case("StatelessMultinomial", LOGITS, I32(n), SEED) for n in (1, 7)]
    out += [case("StatelessRandomGetKeyCounter", s) for s in (SEED, small)]
    return [*out, case("StatelessRandomGetAlg"), case("StatelessRandomGetKeyCounterAlg", SEED)]


CASES = [*_stateful(), *_stateless()]
