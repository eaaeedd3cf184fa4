"""Blocks moved between space, depth and batch."""

import numpy as np
from oracle import case

_RNG = np.random.default_rng(11)


def _values(*shape: int) -> np.ndarray:
    return _RNG.integers(0, 99, shape).astype(np.float32)


def _ints(values: object) -> np.ndarray:
    return np.array(values, np.int32)


CASES = []
for _s, _block, _pad in [
    ((1, 4, 4, 1), [2, 2], [[0, 0], [0, 0]]),
    ((2, 3, 4, 2), [2, 2], [[1, 0], [0, 0]]),
    ((1, 4), [2], [[0, 0]]),
    ((1, 5, 2), [3], [[1, 0]]),
    ((2, 2, 6, 1, 2), [1, 3], [[0, 0], [0, 0]]),
    ((1, 3, 3, 1), [2, 2], [[0, 0], [0, 0]]),
    ((1, 4, 4, 1), [2, 0], [[0, 0], [0, 0]]),
    ((1, 4, 4, 1), [2, 2], [[0, 0]]),
    ((1, 4, 4, 1), [2, 2], [[-1, 1], [0, 0]]),
    ((1, 4, 2, 2, 3), [2, 1, 2], [[1, 1], [0, 0], [2, 2]]),
]:
    CASES.append(case("SpaceToBatchND", _values(*_s), _ints(_block), _ints(_pad), tol=0))
for _s, _block, _crop in [
    ((4, 2, 2, 1), [2, 2], [[0, 0], [0, 0]]),
    ((8, 2, 3, 2), [2, 2], [[1, 0], [0, 1]]),
    ((2, 3), [2], [[1, 1]]),
    ((3, 2, 2), [3], [[0, 2]]),
    ((3, 2, 2, 1), [2, 2], [[0, 0], [0, 0]]),
    ((4, 2, 2, 1), [2, 2], [[3, 3], [0, 0]]),
    ((4, 1, 1, 1), [2, 2], [[-1, 0], [0, 0]]),
    ((4, 2, 2, 1), [2, 2], [[2, 2], [0, 0]]),
]:
    CASES.append(case("BatchToSpaceND", _values(*_s), _ints(_block), _ints(_crop), tol=0))
for _pad in ([[0, 0], [0, 0]], [[1, 1], [2, 0]], [[1, 0], [0, 0]]):
    CASES.append(case("SpaceToBatch", _values(2, 4, 4, 3), _ints(_pad), block_size=2, tol=0))
    CASES.append(case("BatchToSpace", _values(8, 2, 3, 1), _ints(_pad), block_size=2, tol=0))
for _size in (2, 3):
    for _t in (np.float32, np.int32, np.uint8):
        CASES += [
            case("SpaceToDepth", _values(2, 6, 6, 2).astype(_t), block_size=_size, tol=0),
            case("DepthToSpace", _values(1, 2, 3, 36).astype(_t), block_size=_size, tol=0),
        ]
CASES += [
    case("SpaceToDepth", _values(1, 3, 4, 1), block_size=2),
    case("DepthToSpace", _values(1, 2, 2, 6), block_size=2),
    case("SpaceToDepth", _values(4, 4), block_size=2),
    case("DepthToSpace", _values(0, 2, 2, 4), block_size=2, tol=0),
]
