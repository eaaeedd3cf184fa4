"""Cases of elementwise arithmetic: all dtypes, broadcasting, signs, zeros, NaN."""

import itertools
from typing import Any

import ml_dtypes
import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(2)
ODD = np.array([0.0, -0.0, 1, -1, 2.5, -3, np.inf, -np.inf, np.nan], np.float32)
PAIRS = np.array(list(itertools.product(ODD, ODD)), np.float32).T
FLOATS = [
    "Add", "AddV2", "Sub", "Mul", "MulNoNan", "RealDiv", "Div", "DivNoNan", "FloorDiv",
    "TruncateDiv", "FloorMod", "TruncateMod", "Mod", "Pow", "SquaredDifference", "Maximum",
    "Minimum", "Atan2", "Xdivy", "Xlogy", "Xlog1py", "NextAfter",
]  # fmt: skip
ONLY_WIDE = {"TruncateMod", "Mod", "NextAfter"}
COMPLEX = ["Add", "AddV2", "Sub", "Mul", "MulNoNan", "RealDiv", "Div", "DivNoNan", "Pow",
           "SquaredDifference", "Xdivy", "Xlogy", "Xlog1py"]  # fmt: skip
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
DIVISIONS = ["Div", "FloorDiv", "TruncateDiv", "FloorMod"]
SHAPES = [((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((2, 1, 3), (5, 1)), ((0, 3), (1, 3)),
          ((0,), ())]  # fmt: skip


def _ints(dtype: Any, *shape: int) -> np.ndarray[Any, Any]:
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def _floats() -> list[Case]:
    out: list[Case] = []
    for op in FLOATS:
        tol = 0 if op == "NextAfter" else 1e-5
        x, y = RNG.uniform(0.5, 4, (2, 3, 4))
        out += [case(op, PAIRS[0], PAIRS[1], tol=tol)]
        out += [case(op, x.astype(np.float32), -y.astype(np.float32), tol=tol)]
        out += [case(op, x, y, tol=0 if op == "NextAfter" else 1e-12)]
        out += [
            case(
                op, RNG.uniform(1, 3, a).astype(np.float32), RNG.uniform(1, 3, b).astype(np.float32)
            )
            for a, b in SHAPES
        ]
        out.append(case(op, np.ones((2, 3), np.float32), np.ones((2,), np.float32)))
        if op not in ONLY_WIDE:
            small = (np.float16, ml_dtypes.bfloat16)
            out += [case(op, x.astype(t), y.astype(t), tol=1e-2) for t in small]
    return out


def _complex() -> list[Case]:
    z = RNG.normal(size=(2, 5)) + 1j * RNG.normal(size=(2, 5))
    z[1, 4] = 0
    types = (np.complex64, np.complex128)
    return [
        case(op, z[0, : 4 if op in ("RealDiv", "Div", "Xdivy", "Xlogy", "Pow") else 5].astype(t),
             z[1, : 4 if op in ("RealDiv", "Div", "Xdivy", "Xlogy", "Pow") else 5].astype(t))
        for op in COMPLEX for t in types
    ]  # fmt: skip


def _integers() -> list[Case]:
    out: list[Case] = []
    for t in (*SIGNED, *UNSIGNED):
        x, y = _ints(t, 40), _ints(t, 40)
        out += [case(op, x, y) for op in ("AddV2", "Sub", "Mul", "Maximum", "Minimum")]
        z = np.where(y % 7 == 0, 1, y % 7).astype(t)
        w = np.where(y == 0, 1, y).astype(t)
        out += [case(op, x, d) for op in DIVISIONS for d in (z, w)]
        out += [case(op, x[:3], np.array([1, 0, 2], t)) for op in DIVISIONS]
    for t in SIGNED:
        info = np.iinfo(t)
        least, minus = np.array([info.min, info.max], t), np.array([-1, -1], t)
        out += [case(op, least, minus) for op in DIVISIONS]
        out += [case("Pow", _ints(t, 9) % 5, np.arange(9, dtype=t)), case("Add", least, minus)]
        out += [case("Pow", least, minus), case("Pow", np.zeros(2, t), np.zeros(2, t))]
    for t in (np.int32, np.int64):
        a, b = np.array([7, -7, 7, -7, 0], t), np.array([3, 3, -3, -3, 2], t)
        out += [case(op, a, b) for op in ("TruncateMod", "Mod", "FloorMod", "SquaredDifference")]
        out += [case(op, a, b * 0) for op in ("TruncateMod", "Mod")]
    out.append(case("FloorDiv", np.zeros((0,), np.int32), np.int32(0)))
    return [*out, case("Add", _ints(np.uint8, 5), _ints(np.uint8, 5))]


def _others() -> list[Case]:
    words = np.array([["ab", ""], ["c", "é"]])
    out = [case("Add", words, np.array(["x", "yz"])), case("Add", words, np.array("!"))]
    real, imag = RNG.normal(size=(2, 2, 3))
    out += [case("Complex", real, imag[:1], Tout="complex128")]
    out += [case("Complex", real.astype(np.float32), np.float32(2), Tout="complex64")]
    near = real + np.array([1e-6, 1e-4, 0])
    out += [case("ApproximateEqual", real, near), case("ApproximateEqual", ODD, ODD)]
    out += [case("ApproximateEqual", real, near, tolerance=0.01)]
    out += [case("ApproximateEqual", ODD, np.float32(1))]
    for t in (np.float32, np.float64, np.int8, np.uint8, np.int32, np.int64, np.complex64):
        out.append(case("AddN", *(RNG.normal(scale=99, size=(3, 2, 2)).astype(np.int8).astype(t))))
    small = (np.float16, ml_dtypes.bfloat16)
    out += [case("AddN", *RNG.normal(size=(4, 2, 2)).astype(t), tol=1e-2) for t in small]
    out += [case("AddN", np.float32(1)), case("AddN", np.float32(1), np.ones(1, np.float32))]
    out.append(case("AddN", np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)))
    return out


CASES = [*_floats(), *_complex(), *_integers(), *_others()]
