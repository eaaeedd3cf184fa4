"""Cases of comparisons, logic, selection and clipping."""

import itertools
from typing import Any

import ml_dtypes
import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(3)
ODD = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan]
PAIRS = np.array(list(itertools.product(ODD, ODD))).T
ORDER = ["Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"]
TYPES: list[Any] = [
    np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64,
]  # fmt: skip


def _orders() -> list[Case]:
    out: list[Case] = []
    for op in ORDER:
        for t in TYPES:
            x, y = RNG.integers(0, 4, (2, 3, 4)).astype(t)
            out.append(case(op, x, y[:1]))
        out += [case(op, PAIRS[0].astype(t), PAIRS[1].astype(t)) for t in TYPES[:4]]
        out += [case(op, np.float32(1), np.ones((2, 0), np.float32))]
        out += [case(op, np.ones(2, np.float32), np.ones(3, np.float32))]
    return out


def _equality() -> list[Case]:
    words, z = np.array(["a", "b", ""]), np.array([1j, 2, 3 + 1j])
    out: list[Case] = []
    for op in ("Equal", "NotEqual"):
        out += [case(op, words, np.array(["a", "c", ""])), case(op, words, np.array("a"))]
        out += [case(op, z.astype(t), z[::-1].astype(t)) for t in (np.complex64, np.complex128)]
        out.append(case(op, np.array([True, False]), np.array([True, True])))
        loose = {"incompatible_shape_error": False}
        out += [case(op, np.ones(2, np.int32), np.ones(3, np.int32), **loose)]
        out += [case(op, np.ones((2, 1), np.int32), np.ones(3, np.int32), **loose)]
    return out


def _logic() -> list[Case]:
    x, y = np.array([[True, False]]), np.array([[True], [False]])
    return [case(op, x, y) for op in ("LogicalAnd", "LogicalOr")]


def _selection() -> list[Case]:
    then, other = RNG.normal(size=(2, 2, 3)).astype(np.float32)
    full = RNG.integers(0, 2, (2, 3)).astype(bool)
    rows = np.array([True, False])
    out = [case("Select", c, then, other) for c in (full, rows, np.array(True), np.array([True]))]
    out += [case("Select", full, then, other[:1]), case("Select", full[:, :1], then, other)]
    out += [case("Select", rows, np.array(["a", "b"]), np.array(["c", "d"]))]
    out += [case("Select", np.zeros((0,), bool), np.zeros((0, 2)), np.zeros((0, 2)))]
    out += [case("SelectV2", c, then, other) for c in (full, np.array(True), full[:1], full[:, :1])]
    out += [case("SelectV2", full, then, np.float32(0)), case("SelectV2", rows, then, other)]
    out += [case("SelectV2", rows[:, None], np.array(["a"]), np.array("c"))]
    for t in (np.float64, np.int8, np.uint16, np.int64, bool, np.complex64, np.float16,
              ml_dtypes.bfloat16):  # fmt: skip
        pair = RNG.integers(0, 2, (2, 2, 3)).astype(t)
        out += [case(op, full, *pair) for op in ("Select", "SelectV2")]
    return out


def _clips() -> list[Case]:
    t = np.array([1, np.nan, 5, -5, np.inf, -np.inf], np.float32)
    low = np.full(6, -1, np.float32)
    out = [case("ClipByValue", t, np.float32(a), np.float32(b)) for a, b in ((-2, 2), (2, -1))]
    out += [case("ClipByValue", t, low, low + 4), case("ClipByValue", t, np.float32(0), t)]
    out += [case("ClipByValue", t, np.zeros(2, np.float32), np.float32(1))]
    for kind in (np.int32, np.int64, np.uint8, np.int8, np.float64, np.float16, ml_dtypes.bfloat16):
        x = RNG.integers(0, 99, (2, 4)).astype(kind)
        out.append(case("ClipByValue", x, np.array(20).astype(kind), np.array(50).astype(kind)))
    return out


CASES = [*_orders(), *_equality(), *_logic(), *_selection(), *_clips()]
