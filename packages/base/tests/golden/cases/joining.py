"""Tensors joined and taken apart along each axis."""

import ml_dtypes
import numpy as np
from oracle import case

_RNG = np.random.default_rng(3)


def _values(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape).astype(np.float32)


def _text(*shape: int) -> np.ndarray:
    flat = [bytes(_RNG.integers(97, 122, k % 4).tolist()) for k in range(int(np.prod(shape)))]
    return np.array(flat, object).reshape(shape)


CASES = []
_GROUPS = [
    [(2, 3), (2, 3)], [(2, 3), (4, 3)], [(2, 3), (2, 1), (2, 0)], [(3,), (0,), (2,)],
    [(1, 2, 2), (1, 2, 2)], [(2, 3), (3, 3, 1)], [(2, 3), (4, 4)], [(), ()],
]  # fmt: skip
for _shapes in _GROUPS:
    for _axis in (-3, -2, -1, 0, 1, 2):
        _xs = [_values(*s) for s in _shapes]
        CASES.append(case("ConcatV2", *_xs, np.int32(_axis), tol=0))
        CASES.append(case("Concat", np.int32(_axis), *_xs, tol=0))
CASES += [
    case("ConcatV2", _text(2, 2), _text(1, 2), np.int64(0), tol=0),
    case("ConcatV2", *[_values(2).astype(ml_dtypes.bfloat16)] * 2, np.int32(0), tol=0),
    case("ConcatV2", np.array([True]), np.array([False]), np.int32(0), tol=0),
    case("ConcatV2", _values(1, 2), _values(3, 2), np.array([0], np.int32)),
]

for _axis, _rows in [
    (0, [[2, 3], [4, 3]]), (1, [[2, 3], [2, 5], [2, 0]]), (-1, [[2, 3], [2, 5]]), (0, [[3], [2]]),
    (0, [[2, 3], [2, 4]]), (2, [[2, 3], [2, 4]]), (0, [[2, 3], [2]]),
]:  # fmt: skip
    for _t in (np.int32, np.int64):
        CASES.append(
            case("ConcatOffset", np.int32(_axis), *(np.array(r, _t) for r in _rows), tol=0)
        )

for _s in [(), (3,), (2, 3), (0, 2)]:
    for _axis in range(-4, 4):
        CASES.append(case("Pack", *[_values(*_s) for _ in range(3)], axis=_axis, tol=0))
CASES += [
    case("Pack", _text(2), _text(2), axis=1, tol=0),
    case("Pack", "a", "b", tol=0),
    case("Pack", np.int32(4), tol=0),
    case("Pack", _values(2), _values(3)),
]

for _s in [(2,), (2, 3), (3, 0, 2), (0, 2)]:
    for _axis in range(-len(_s), len(_s)):
        CASES.append(case("Unpack", _values(*_s), num=_s[_axis], axis=_axis, tol=0))
CASES += [
    case("Unpack", _text(3), num=3, tol=0),
    case("Unpack", _values(3), num=2),
    case("Unpack", _values(3), num=3, axis=1),
]

for _s in [(4,), (2, 4), (4, 3, 2), (0, 4)]:
    for _axis in range(-2, 3):
        for _n in (1, 2, 4):
            CASES.append(case("Split", np.int32(_axis), _values(*_s), num_split=_n, tol=0))
CASES.append(case("Split", np.int32(1), _text(2, 4), num_split=2, tol=0))

for _sizes in (
    [2, 2],
    [4],
    [1, -1],
    [0, 4],
    [1, 2, 1],
    [5, -1],
    [3],
    [-1, -1],
    [-2, 6],
    [4, -1],
):
    for _t in (np.int32, np.int64):
        for _axis in (0, -1, 2):
            CASES.append(
                case("SplitV", _values(4, 4), np.array(_sizes, _t), np.int32(_axis),
                     num_split=len(_sizes), tol=0)
            )  # fmt: skip
CASES.append(case("SplitV", _text(3), np.array([1, 2], np.int64), np.int32(0), num_split=2, tol=0))
