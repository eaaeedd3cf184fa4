"""Shapes read and changed; elements repeated and permuted."""

import ml_dtypes
import numpy as np
from oracle import case

_RNG = np.random.default_rng(2)
_SHAPES = [(), (1,), (3,), (0,), (2, 3), (2, 0, 3), (1, 4, 1, 2)]
_TEXT = np.array([b"ab", b"", b"c", b"d", b"\xc3\xa9", b"f"], object)


def _values(*shape: int) -> np.ndarray:
    return _RNG.integers(-9, 9, shape).astype(np.float32)


CASES = []
for _s in _SHAPES:
    for _t in ("int32", "int64"):
        CASES += [case(op, _values(*_s), out_type=_t, tol=0) for op in ("Shape", "Size", "ShapeN")]
    CASES.append(case("Rank", _values(*_s), tol=0))
CASES.append(case("ShapeN", _values(2), _values(3, 1), _values(), tol=0))
CASES += [case(op, _TEXT.reshape(2, 3), tol=0) for op in ("Shape", "Size", "Rank")]

for _s, _target in [
    ((2, 3), [6]), ((2, 3), [3, -1]), ((2, 3), [-1]), ((2, 3), [1, 6, 1]), ((), [1, 1]), ((1,), []),
    ((0, 3), [-1, 3]), ((0, 3), [0, 5]), ((2, 0), [-1]), ((2, 0), [0, -1]), ((2, 3), [4, -1]),
    ((2, 3), [5]), ((2, 3), [-1, -1]), ((2, 3), [-2, 3]), ((2, 3), [0, -1]), ((4,), [2, 2]),
]:  # fmt: skip
    CASES += [case("Reshape", _values(*_s), np.array(_target, t), tol=0) for t in "il"]
CASES.append(case("Reshape", _TEXT, np.array([3, 2], np.int32), tol=0))
CASES.append(case("Reshape", _values(2, 3), np.int32(6)))
CASES.append(case("Reshape", _values(2, 3), np.array([[6]], np.int32)))

for _s, _dims in [
    ((1, 4, 1, 2), []), ((1, 4, 1, 2), [0]), ((1, 4, 1, 2), [-2]), ((1, 4, 1, 2), [0, 2]),
    ((1, 4, 1, 2), [0, 0]), ((), []), ((1, 1), []), ((1, 4), [1]), ((1, 4), [2]), ((0, 1), []),
    ((0, 1), [1]), ((1, 1), [-1]),
]:  # fmt: skip
    CASES.append(case("Squeeze", _values(*_s), squeeze_dims=_dims, tol=0))

for _s in [(), (3,), (2, 3)]:
    for _d in range(-4, 4):
        CASES.append(case("ExpandDims", _values(*_s), np.int32(_d), tol=0))
CASES.append(case("ExpandDims", _TEXT, np.int64(0), tol=0))
CASES.append(case("ExpandDims", _values(2), np.array([1], np.int32), tol=0))
CASES.append(case("ExpandDims", _values(2), np.array([0, 1], np.int32)))

for _s, _target in [
    ((), [2, 3]), ((), []), ((3,), [3]), ((3,), [2, 3]), ((1, 3), [4, 3]), ((2, 1), [2, 5]),
    ((1,), [0]), ((0,), [2, 0]), ((3,), [2]), ((3,), [3, 2]), ((2, 3), [3]), ((1, 1), [2, 2, 2]),
    ((1,), [-1]), ((1,), [1 << 40, 1 << 40]),
]:  # fmt: skip
    _t = np.int64
    CASES.append(case("BroadcastTo", _values(*_s), np.array(_target, _t), tol=0))
CASES.append(case("BroadcastTo", _TEXT[:1], np.array([2, 2], np.int32), tol=0))

for _dims in ([], [0], [3], [2, 0], [2, 3], [-1], [1 << 31, 1 << 31, 4]):
    for _v in (np.float32(1.5), np.int8(-1), np.True_, ml_dtypes.bfloat16(2)):
        CASES.append(case("Fill", np.array(_dims, np.int64), _v, tol=0))
CASES.append(case("Fill", np.array([2], np.int32), "text", tol=0))
CASES.append(case("Fill", np.array([2], np.int32), np.array([1.0])))
CASES.append(case("Fill", np.array([[2]], np.int32), np.float32(1)))

for _s, _m in [
    ((), []), ((3,), [2]), ((3,), [0]), ((2, 3), [2, 1]), ((2, 3), [1, 3]), ((2, 3), [2, 2]),
    ((0, 2), [3, 2]), ((2,), [1, 2]), ((2,), [-1]), ((2, 1, 2), [1, 3, 2]), ((4,), [1 << 61]),
]:  # fmt: skip
    CASES.append(case("Tile", _values(*_s), np.array(_m, np.int64), tol=0))
CASES.append(case("Tile", _TEXT.reshape(2, 3), np.array([2, 2], np.int32), tol=0))

for _s, _p in [
    ((), []), ((3,), [0]), ((2, 3), [1, 0]), ((2, 3, 4), [2, 0, 1]), ((2, 3, 4), [0, 2, 1]),
    ((2, 3), [-1, 0]), ((2, 3), [0, 0]), ((2, 3), [0]), ((2, 3), [2, 0]), ((0, 2), [1, 0]),
]:  # fmt: skip
    CASES.append(case("Transpose", _values(*_s), np.array(_p, np.int32), tol=0))
    _c = (_values(*_s) + 1j * _values(*_s)).astype(np.complex64)
    CASES.append(case("ConjugateTranspose", _c, np.array(_p, np.int64), tol=0))
CASES.append(case("Transpose", _TEXT.reshape(2, 3), np.array([1, 0], np.int32), tol=0))
CASES.append(case("ConjugateTranspose", _values(2, 3), np.array([1, 0], np.int32), tol=0))

for _p in ([], [0], [2, 0, 1], [1, 1], [0, 3, 1], [-1, 0]):
    CASES += [case("InvertPermutation", np.array(_p, t), tol=0) for t in "il"]
CASES.append(case("InvertPermutation", np.zeros((1, 1), np.int32)))
