"""Sorting, selecting, searching, reversing, rotating; ties and borders."""

import ml_dtypes
import numpy as np
from oracle import case

_RNG = np.random.default_rng(10)
_TYPES = [
    np.float32,
    np.float64,
    np.int32,
    np.int64,
    np.uint8,
    np.int8,
    np.float16,
    ml_dtypes.bfloat16,
]


def _ties(*shape: int) -> np.ndarray:
    return _RNG.integers(0, 5, shape).astype(np.float32)


CASES = []
for _t in _TYPES:
    CASES.append(case("TopKV2", _ties(3, 7).astype(_t), np.int32(4), tol=0))
    CASES.append(case("ReverseV2", _ties(2, 3).astype(_t), np.array([1], np.int32), tol=0))
    if _t is not np.float16:
        CASES.append(case("Where", _ties(2, 3).astype(_t), tol=0))
    CASES.append(case("NthElement", _ties(2, 5).astype(_t), np.int32(2), tol=0))
for _k in (0, 1, 3, 4, 5, 6, -1):
    CASES += [case("TopKV2", _ties(2, 2, 5), np.int32(_k), tol=0)]
CASES += [
    case("TopKV2", np.array([np.inf, -np.inf, -0.0, 0.0, 1], np.float32), np.int32(5), tol=0),
    case("TopKV2", np.array([1, 2, 3], np.float32), np.int32(1), sorted=False, tol=0),
    case("TopKV2", np.zeros((0, 3), np.float32), np.int32(2), tol=0),
    case("TopKV2", np.float32(3), np.int32(0)),
    case("TopKV2", _ties(3), np.array([1, 2], np.int32)),
    case("TopKV2", _ties(2, 40), np.int32(40), tol=0),
    case("TopKV2", _ties(3), np.int32(2), index_type="int64", tol=0),
]
for _n, _reverse in [(0, False), (3, True), (4, False), (4, True), (5, False), (-1, False)]:
    CASES.append(case("NthElement", _ties(2, 5), np.int32(_n), reverse=_reverse, tol=0))
CASES += [
    case("NthElement", np.float32(1), np.int32(0)),
    case("NthElement", _ties(3), np.array([1], "i")),
]

CASES += [
    case("Where", np.array(x), tol=0)
    for x in (
        True,
        False,
        [True, False, True],
        [[False, True], [True, True]],
        [[]],
        [0.0, np.nan, -0.0],
    )
]
CASES.append(case("Where", np.array([0, 1j], np.complex64), tol=0))

for _op in ("LowerBound", "UpperBound"):
    for _t in (np.float32, np.int32, np.int64, np.float64):
        _rows, _v = np.sort(_ties(2, 6), -1).astype(_t), _ties(2, 4).astype(_t)
        CASES.append(case(_op, _rows, _v, tol=0))
        CASES.append(case(_op, _rows, _v, out_type="int64", tol=0))
    CASES.append(case(_op, _ties(2, 0), _ties(2, 2), tol=0))
    CASES.append(case(_op, _ties(2, 3), _ties(3, 2)))

for _axes in ([], [0], [1], [-1], [0, 1], [0, -2], [2], [1, 1], [0, 1, 2]):
    CASES.append(case("ReverseV2", _ties(2, 3), np.array(_axes, np.int32), tol=0))
    CASES.append(case("ReverseV2", _ties(2, 0, 3), np.array(_axes, np.int64), tol=0))
CASES.append(case("ReverseV2", np.array([b"a", b"b"], object), np.array([0], np.int32), tol=0))
for _flags in ([True, False], [True, True], [False, False], [True]):
    CASES.append(case("Reverse", _ties(2, 3), np.array(_flags), tol=0))

for _seq, _batch, _lengths in [
    (1, 0, [0, 2, 4]),
    (0, 1, [1, 3, 2, 0]),
    (1, 0, [5, 1, 1]),
    (1, 0, [1, 1]),
    (1, 1, [1, 1, 1, 1]),
    (2, 0, [1, 2, 0]),
    (1, 2, [4, 3]),
    (3, 0, [1, 1, 1]),
    (1, 0, [-1, 1, 1]),
]:
    for _t in (np.int32, np.int64):
        CASES.append(
            case(
                "ReverseSequence",
                _ties(3, 4, 2),
                np.array(_lengths, _t),
                seq_dim=_seq,
                batch_dim=_batch,
                tol=0,
            )
        )
_TEXT = np.array([[b"a", b"b"], [b"c", b"d"]], object)
CASES.append(case("ReverseSequence", _TEXT, np.array([2, 1], np.int64), seq_dim=1, tol=0))

for _shift, _axis in [
    (1, 0),
    (-1, 1),
    (7, 0),
    ([1, 2], [0, 1]),
    ([1, 1], [0, 0]),
    (0, 0),
    ([-5], [-1]),
    (1, 2),
    ([1], [0, 1]),
    ([], []),
]:
    _i = np.array(_shift, np.int32), np.array(_axis, np.int32)
    CASES.append(case("Roll", _ties(3, 4), *_i, tol=0))
CASES += [
    case("Roll", _TEXT, np.int64(1), np.int64(0), tol=0),
    case("Roll", np.float32(1), np.int32(1), np.int32(0)),
    case("Roll", np.zeros((0, 2), np.float32), np.int32(1), np.int32(0), tol=0),
]
