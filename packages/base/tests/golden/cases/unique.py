"""Distinct elements and rows in order of first occurrence."""

import ml_dtypes
import numpy as np
from oracle import case

_RNG = np.random.default_rng(9)
_VECTORS = [
    np.array([4, 4, 1, 7, 1, 4], np.int32),
    np.array([], np.float32),
    np.array([0.0, -0.0, 1.5, 1.5], np.float32),
    np.array([b"b", b"a", b"b", b""], object),
    np.array([True, False, True]),
    np.array([3, 3, 2], np.uint8),
    np.array([1 << 40, 5, 1 << 40], np.int64),
    np.array([2, 1, 2]).astype(ml_dtypes.bfloat16),
    _RNG.integers(0, 9, 40).astype(np.int64),
]
_MATRIX = np.array([[1, 2, 1], [3, 4, 3], [1, 2, 1]], np.int32)

CASES = []
for _x in _VECTORS:
    for _t in ("int32", "int64"):
        CASES.append(case("Unique", _x, out_idx=_t, tol=0))
        CASES.append(case("UniqueWithCounts", _x, out_idx=_t, tol=0))
    CASES.append(case("UniqueV2", _x, np.zeros(0, np.int64), tol=0))
    CASES.append(case("UniqueV2", _x, np.array([0], np.int32), tol=0))
    CASES.append(case("UniqueWithCountsV2", _x, np.array([-1], np.int64), tol=0))
for _op in ("UniqueV2", "UniqueWithCountsV2"):
    CASES += [
        case(_op, _MATRIX, np.array(axis, np.int64), tol=0)
        for axis in ([0], [1], [-1], [2], [], [0, 1])
    ]
CASES += [
    case("Unique", _MATRIX),
    case(
        "UniqueV2",
        _RNG.integers(0, 2, (2, 5, 2)).astype(np.float32),
        np.array([1], np.int64),
        tol=0,
    ),
    case(
        "UniqueV2", np.array([[b"a", b"b"], [b"a", b"b"]], object), np.array([0], np.int64), tol=0
    ),
    case("UniqueV2", np.zeros((0, 2), np.float32), np.array([0], np.int64), tol=0),
]

for _x, _y in [
    ([1, 2, 3, 2, 4], [2]),
    ([], [1]),
    ([1, 1, 2], []),
    ([5, 6], [6, 5]),
    ([1, 2, 1], [3]),
]:
    for _t in (np.int32, np.float32, np.int64):
        CASES.append(case("ListDiff", np.array(_x, _t), np.array(_y, _t), tol=0))
CASES += [
    case(
        "ListDiff", np.array([b"a", b"b"], object), np.array([b"b"], object), out_idx="int64", tol=0
    ),
    case("ListDiff", _MATRIX, np.array([1], np.int32)),
]
