"""Cases of reductions: axes in every form, empty axes, NaN, ties, wrap-around, half types."""

from typing import Any

import ml_dtypes
import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(20)
NAN, INF = np.float32("nan"), np.float32("inf")
I32 = np.int32
SUMS = ("Sum", "Prod", "Mean", "Max", "Min", "EuclideanNorm")


def _values(dtype: Any, *shape: int) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        low = 0 if kind.kind == "u" else -4
        return RNG.integers(low, 5, shape).astype(kind)
    if kind.kind == "c":
        return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(kind)
    return RNG.normal(size=shape).astype(np.float32).astype(kind)


def _axes() -> list[Case]:
    x = _values(np.float32, 2, 3, 4)
    forms: list[Any] = [I32(0), I32(-1), [0], [1, 2], [2, 0], [0, 1, 2], [-1, 0], [[0, 1]]]
    out = [
        case(op, x, np.array(axes, I32), keep_dims=keep)
        for op in SUMS
        for axes in [*forms, []]
        for keep in (False, True)
    ]
    refused: list[Any] = [[3], [-4], [0, 0], [1, -2]]
    out += [case(op, x, np.array(axes, I32)) for op in SUMS for axes in refused]
    out += [case("Sum", x, np.array([1], np.int64)), case("Sum", np.float32(3), np.array([], I32))]
    return [*out, case("Sum", np.float32(3), I32(0)), case("Max", np.float32(3), np.array([], I32))]


def _dtypes() -> list[Case]:
    real = (
        np.float32,
        np.float64,
        np.int8,
        np.uint8,
        np.int16,
        np.uint16,
        np.int32,
        np.int64,
        np.uint32,
        np.uint64,
    )
    out = [case(op, _values(t, 3, 4), I32(1)) for op in SUMS for t in real]
    small = (np.float16, ml_dtypes.bfloat16)
    out += [case(op, _values(t, 3, 4), I32(0), tol=1e-2) for op in SUMS for t in small]
    wide = (np.complex64, np.complex128)
    return out + [
        case(op, _values(t, 3, 4), I32(0)) for op in SUMS if op not in ("Max", "Min") for t in wide
    ]


def _special() -> list[Case]:
    odd = np.array([[1, NAN, 2], [INF, 3, -INF], [-0.0, 0.0, -0.0]], np.float32)
    out = [case(op, odd, I32(k)) for op in SUMS for k in (0, 1)]
    out += [
        case(op, np.zeros((0, 3), t), I32(k))
        for op in SUMS
        for t in (np.float32, I32, np.uint8)
        for k in (0, 1)
    ]
    out += [case(op, np.zeros((2, 0, 3), np.float32), I32(1), keep_dims=True) for op in SUMS]
    wrap = np.array([100, 100, 100, -3], np.int8)
    out += [case(op, wrap, I32(0)) for op in ("Sum", "Prod", "Mean", "EuclideanNorm")]
    out += [
        case("Mean", np.array([-3, -4], I32), I32(0)),
        case("Mean", np.ones(300, np.uint8), I32(0)),
    ]
    out.append(case("Sum", np.full(5, 2**30, I32), I32(0)))
    return out


def _logic() -> list[Case]:
    x = RNG.integers(0, 2, (3, 4)).astype(bool)
    axes: list[Any] = [0, [1], [0, 1], [], -1]
    out = [
        case(op, x, np.array(a, I32), keep_dims=keep)
        for op in ("All", "Any")
        for a in axes
        for keep in (False, True)
    ]
    out += [case(op, np.zeros((0, 2), bool), I32(0)) for op in ("All", "Any")]
    return [*out, case("All", x, I32(2)), case("Any", x, np.array([0, 0], I32))]


def _extremes() -> list[Case]:
    ties = np.array([[3, 1, 3], [2, 2, 2], [0, 5, 5]], np.float32)
    odd = np.array([[NAN, 1, 3], [NAN, NAN, NAN], [-INF, NAN, -INF], [INF, 0, INF]], np.float32)
    out: list[Case] = []
    for op in ("ArgMax", "ArgMin"):
        out += [case(op, x, I32(k)) for x in (ties, odd) for k in (0, 1, -1, 2)]
        out += [case(op, ties, I32(0), output_type="int32"), case(op, ties, np.int64(0))]
        types = (np.float16, ml_dtypes.bfloat16, np.float64, np.uint8, np.int16, np.int64, bool)
        out += [case(op, _values(t, 2, 5).astype(t), I32(1)) for t in types]
        out += [case(op, np.zeros(s, np.float32), I32(0)) for s in ((0, 3), (3, 0), ())]
        out.append(case(op, ties, np.array([0], I32)))
    return [*out, case("ArgMax", ties, I32(0), output_type="uint16")]


def _scans() -> list[Case]:
    x = _values(np.float32, 2, 3, 2)
    out = [
        case(op, x, I32(axis), exclusive=exclusive, reverse=reverse)
        for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp")
        for axis in (0, 1, -1)
        for exclusive in (False, True)
        for reverse in (False, True)
    ]
    for op in ("Cumsum", "Cumprod"):
        out += [
            case(op, _values(t, 5), I32(0))
            for t in (np.int8, np.uint8, I32, np.int64, np.float64, np.complex64)
        ]
        out += [case(op, _values(t, 5), I32(0), tol=1e-2) for t in (np.float16, ml_dtypes.bfloat16)]
        out += [
            case(op, x, I32(3)),
            case(op, x, np.array([0], I32)),
            case(op, np.float32(1), I32(0)),
        ]
        out += [case(op, np.zeros((0, 2), np.float32), I32(k)) for k in (0, 1)]
        out.append(case(op, np.array([1, NAN, 2, INF], np.float32), I32(0)))
    hard = np.array([-INF, -INF, 1, 80, 100, -100, 2], np.float32)
    out += [case("CumulativeLogsumexp", hard, I32(0)), case("CumulativeLogsumexp", hard, I32(-2))]
    return [*out, case("CumulativeLogsumexp", hard.astype(np.float64), np.int64(0), reverse=True)]


def _losses() -> list[Case]:
    out = [case("L2Loss", _values(t, 3, 4)) for t in (np.float32, np.float64)]
    out += [case("L2Loss", _values(t, 3, 4), tol=1e-2) for t in (np.float16, ml_dtypes.bfloat16)]
    return [*out, case("L2Loss", np.zeros((0,), np.float32)), case("L2Loss", np.float32(3))]


CASES = [*_axes(), *_dtypes(), *_special(), *_logic(), *_extremes(), *_scans(), *_losses()]
