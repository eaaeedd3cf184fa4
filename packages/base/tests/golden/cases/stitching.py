"""Rows dealt out and put together again."""

import numpy as np
from oracle import case

_RNG = np.random.default_rng(8)
_TEXT = np.array([b"a", b"b", b"c"], object)


def _values(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape).astype(np.float32)


def _ints(values: object) -> np.ndarray:
    return np.array(values, np.int32)


CASES = []
for _p, _s in [
    ([0, 1, 0, 2], (4,)),
    ([0, 1, 0, 2], (4, 3)),
    ([[0, 1], [1, 1]], (2, 2, 3)),
    (1, (2,)),
    ([], (0, 2)),
    ([3], (1,)),
    ([-1], (1,)),
    ([0, 1], (3,)),
    ([2, 2], (2, 2)),
]:
    CASES.append(case("DynamicPartition", _values(*_s), _ints(_p), num_partitions=3, tol=0))
CASES.append(case("DynamicPartition", _TEXT, _ints([1, 0, 1]), num_partitions=2, tol=0))

for _op in ("DynamicStitch", "ParallelDynamicStitch"):
    for _places, _inner in [
        ([[0, 2], [1, 3]], ()),
        ([[0, 2], [1, 3]], (2,)),
        ([0, [2, 1]], (3,)),
        ([[[0, 1], [2, 3]]], (2,)),
        ([[], [0]], ()),
        ([[], []], (2,)),
        ([[0, 1]], (0,)),
    ]:
        _rows = [_ints(p) for p in _places]
        _data = [_values(*r.shape, *_inner) for r in _rows]
        CASES.append(case(_op, *_rows, *_data, tol=0))
    CASES.append(case(_op, _ints([0, 1, 2]), _TEXT, tol=0))
    CASES.append(case(_op, _ints([0]), _ints([1]), _values(1, 2), _values(1, 3)))
CASES.append(case("DynamicStitch", _ints([0, 1]), _ints([1, 0]), _values(2), _values(2), tol=0))
CASES.append(case("DynamicStitch", _ints([0, 0, 1]), _values(3, 2), tol=0))
