"""Slices, plain and strided, with every mask."""

import itertools
from typing import Any

import numpy as np
from oracle import Case, case

_RNG = np.random.default_rng(4)
_X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
_TEXT = np.array([b"a", b"b", b"c", b"d"], object)


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


CASES = [
    case("Slice", _X, _ints(*begin), _ints(*size), tol=0)
    for begin, size in [
        ((0, 0, 0), (2, 3, 4)),
        ((1, 0, 2), (1, -1, 2)),
        ((0, 3, 0), (2, 0, 4)),
        ((1, 1, 1), (-1, -1, -1)),
        ((0, 0, 0), (3, 1, 1)),
        ((-1, 0, 0), (1, 1, 1)),
        ((0, 0, 5), (1, 1, -1)),
        ((0, 0, 0), (1, 1, -2)),
        ((0, 0), (1, 1)),
        ((2, 0, 0), (-1, 1, 1)),
    ]
]
CASES += [
    case("Slice", _TEXT, np.array([1], np.int64), np.array([2], np.int64), tol=0),
    case("Slice", np.float32(1), np.zeros(0, np.int64), np.zeros(0, np.int64), tol=0),
]


def _strided(x: Any, low: list[int], high: list[int], strides: list[int], **masks: int) -> Case:
    named = {f"{k}_mask": v for k, v in masks.items()}
    return case("StridedSlice", x, _ints(*low), _ints(*high), _ints(*strides), tol=0, **named)


# Every begin, end and stride around the borders of a vector.
_LINE = np.arange(4, dtype=np.int32)
for _b, _e in itertools.product((-9, -4, -1, 0, 2, 4, 9), repeat=2):
    CASES += [_strided(_LINE, [_b], [_e], [s]) for s in (1, 2, -1, -3)]
for _b in range(-6, 6):
    CASES.append(_strided(_LINE, [_b], [_b + 1], [1], shrink_axis=1))
    CASES.append(_strided(_LINE, [_b], [0], [1], shrink_axis=1, begin=1, end=1))
for _s in (1, -1, 2, -2, 0):
    for _begin, _end in itertools.product((0, 1), repeat=2):
        CASES.append(_strided(_LINE, [1], [3], [_s], begin=_begin, end=_end))
CASES.append(_strided(_LINE, [1], [0], [-1], shrink_axis=1))
CASES.append(_strided(_LINE, [1], [0], [2], shrink_axis=1))

# Random masks over a cube.
for _ in range(120):
    _n = int(_RNG.integers(0, 5))
    _masks = {
        k: int(_RNG.integers(0, 1 << _n)) for k in ("begin", "end", "new_axis", "shrink_axis")
    }
    _masks = {k: v if _RNG.random() < 0.5 else 0 for k, v in _masks.items()}
    if _n and _RNG.random() < 0.5:
        _masks["ellipsis"] = 1 << int(_RNG.integers(0, _n))
    CASES.append(
        _strided(
            _X,
            _RNG.integers(-2, 2, _n).tolist(),
            _RNG.integers(-3, 5, _n).tolist(),
            _RNG.choice([1, 1, 1, 2, -1, -2], _n).tolist(),
            **_masks,
        )
    )
CASES += [
    _strided(_X, [0, 0], [1, 1], [1, 1], ellipsis=3),
    _strided(_X, [0] * 4, [1] * 4, [1] * 4),
    _strided(_TEXT, [3], [-9], [-2]),
    _strided(_TEXT, [1], [2], [1], shrink_axis=1),
    _strided(np.float32(3), [0], [0], [1], new_axis=1),
    _strided(np.float32(3), [0], [1], [1]),
    _strided(np.zeros((0, 3), np.float32), [0], [5], [1]),
    _strided(np.zeros((0, 3), np.float32), [0], [1], [1], shrink_axis=1),
    case("StridedSlice", _X, _ints(0, 0), _ints(1), _ints(1, 1)),
    case("StridedSlice", _X, np.int32(0), np.int32(1), np.int32(1)),
]

for _b, _e, _s, _masks in [
    ([0], [2], [1], {}),
    ([1], [4], [2], {}),
    ([3], [0], [-1], {}),
    ([1], [2], [1], {"shrink_axis_mask": 1}),
    ([0], [9], [1], {"begin_mask": 1, "end_mask": 1}),
]:
    _shape = np.array([4], np.int32)
    _dy = _LINE[_b[0] : _e[0] : _s[0]].astype(np.float32)
    if "shrink_axis_mask" in _masks:
        _dy = _dy[0]
    CASES.append(
        case("StridedSliceGrad", _shape, _ints(*_b), _ints(*_e), _ints(*_s), _dy, tol=0, **_masks)
    )
    CASES.append(
        case(
            "TensorStridedSliceUpdate",
            _LINE.astype(np.float32) + 7,
            _ints(*_b),
            _ints(*_e),
            _ints(*_s),
            _dy,
            tol=0,
            **_masks,
        )
    )
CASES += [
    case("StridedSliceGrad", _ints(4), _ints(0), _ints(2), _ints(1), np.ones(3, np.float32)),
    case("TensorStridedSliceUpdate", _X, _ints(0), _ints(1), _ints(1), np.float32(9), tol=0),
    case(
        "TensorStridedSliceUpdate", _X, _ints(0), _ints(2), _ints(1), np.ones(4, np.float32), tol=0
    ),
    case("TensorStridedSliceUpdate", _X, _ints(0), _ints(1), _ints(1), np.ones(3, np.float32)),
]
