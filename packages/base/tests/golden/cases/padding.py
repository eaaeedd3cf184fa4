"""Borders of zeros, of a value and of reflections."""

import ml_dtypes
import numpy as np
from oracle import case

_RNG = np.random.default_rng(5)
_TYPES = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.complex64, ml_dtypes.bfloat16]


def _values(*shape: int) -> np.ndarray:
    return _RNG.integers(0, 9, shape).astype(np.float32)


CASES = []
for _s, _p in [
    ((), np.zeros((0, 2))),
    ((3,), [[1, 2]]),
    ((3,), [[0, 0]]),
    ((2, 3), [[1, 0], [0, 2]]),
    ((0, 2), [[1, 1], [0, 0]]),
    ((2, 1, 3), [[0, 1], [2, 2], [1, 0]]),
    ((2,), [[-1, 0]]),
    ((2,), [[1, 1], [1, 1]]),
    ((2, 3, 2, 2), [[1, 0], [0, 1], [2, 0], [0, 2]]),
    ((2,), [[1 << 40, 1 << 62]]),
]:
    for _t in (np.int32, np.int64):
        if np.max(_p, initial=0) >= 1 << 31:
            continue
        _pad = np.array(_p, _t)
        CASES.append(case("Pad", _values(*_s), _pad, tol=0))
        CASES.append(case("PadV2", _values(*_s), _pad, np.float32(-1), tol=0))
for _t in _TYPES:
    _pad = np.array([[1, 1]], np.int32)
    CASES.append(case("Pad", _values(2).astype(_t), _pad, tol=0))
    CASES.append(case("PadV2", _values(2).astype(_t), _pad, np.array(3, _t), tol=0))
    if _t is not np.complex64:
        CASES.append(case("MirrorPad", _values(3).astype(_t), _pad, mode="REFLECT", tol=0))
_TEXT = np.array([b"a", b"b"], object)
CASES.append(case("PadV2", _TEXT, np.array([[1, 0]], np.int32), "z", tol=0))

for _mode in ("REFLECT", "SYMMETRIC"):
    for _s, _p in [
        ((3,), [[1, 2]]),
        ((3,), [[2, 2]]),
        ((3,), [[3, 3]]),
        ((3,), [[4, 0]]),
        ((3,), [[0, 0]]),
        ((2, 3), [[1, 1], [2, 0]]),
        ((1,), [[1, 0]]),
        ((2, 3, 4), [[0, 0], [1, 2], [3, 3]]),
        ((2,), [[-1, 0]]),
        ((2,), [[0, 0], [0, 0]]),
        ((2, 4, 4, 1), [[0, 0], [1, 1], [1, 1], [0, 0]]),
    ]:
        _pad = np.array(_p, np.int32)
        CASES.append(case("MirrorPad", _values(*_s), _pad, mode=_mode, tol=0))
        if len(_s) == len(_p):
            _big = [d + sum(p) for d, p in zip(_s, _p, strict=True)]
            CASES.append(case("MirrorPadGrad", _values(*_big), _pad, mode=_mode))
CASES.append(case("MirrorPad", _TEXT, np.array([[1, 1]], np.int32), mode="SYMMETRIC", tol=0))
