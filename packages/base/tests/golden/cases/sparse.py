"""Sparse tensors: to dense, ordered, reshaped, filled, cut and joined."""

import numpy as np
from oracle import case

_RNG = np.random.default_rng(12)


def _ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


def _values(*shape: int) -> np.ndarray:
    return _RNG.integers(1, 99, shape).astype(np.float32)


def _sparse(shape: tuple[int, ...], count: int, shuffle: bool = False) -> list[np.ndarray]:
    flat = _RNG.choice(int(np.prod(shape)), count, replace=False)
    flat = flat if shuffle else np.sort(flat)
    rows = np.stack(np.unravel_index(flat, shape), -1).astype(np.int64)
    return [rows, _values(count), _ints(shape)]


CASES = []
for _i, _s, _n in [
    ([[0, 1], [1, 2]], [2, 3], 2),
    ([[0, 1], [0, 1]], [2, 3], 2),
    ([[1, 2], [0, 1]], [2, 3], 2),
    ([0, 2], [3], 2),
    (1, [3], None),
    ([[0, 3]], [2, 3], 1),
    ([[0, 1]], [2, 3], None),
    ([[0]], [2, 3], 1),
    ([[0, 1]], [2, 3], 2),
]:
    _v = np.float32(7) if _n is None else _values(_n)
    CASES += [
        case("SparseToDense", _ints(_i), _ints(_s), _v, np.float32(-1), validate_indices=k, tol=0)
        for k in (True, False)
    ]
CASES += [
    case("SparseToDense", _ints([[1]]), _ints([2]), np.array([b"a"], object), "z", tol=0),
    case(
        "SparseToDense", np.zeros((0, 2), np.int64), _ints([2, 2]), _values(0), np.float32(0), tol=0
    ),
]

for _s, _n in [((4,), 3), ((3, 4), 6), ((2, 3, 2), 5), ((3, 4), 0)]:
    CASES.append(case("SparseReorder", *_sparse(_s, _n, shuffle=True), tol=0))
    for _new in ([-1], [2, -1], [int(np.prod(_s))], [5, -1], [-1, -1], [1, 1, -1]):
        _x = _sparse(_s, _n)
        CASES.append(case("SparseReshape", _x[0], _x[2], _ints(_new), tol=0))
    for _begin, _size in ([0] * len(_s), list(_s)), ([1] * len(_s), [2] * len(_s)), ([0], [1]):
        CASES.append(case("SparseSlice", *_sparse(_s, _n), _ints(_begin), _ints(_size), tol=0))
    for _parts in (1, 2, 3, 7):
        CASES.append(case("SparseSplit", _ints(0), *_sparse(_s, _n), num_split=_parts, tol=0))
CASES.append(case("SparseSplit", _ints(1), *_sparse((3, 5), 9), num_split=3, tol=0))
CASES.append(case("SparseSplit", _ints(2), *_sparse((3, 5), 9), num_split=3))

for _rows, _count in [([0, 0, 2, 4], 5), ([], 3), ([2, 0, 2], 4), ([0, 1], 2), ([5], 3), ([], 0)]:
    _at = np.stack([_rows, _RNG.integers(0, 3, len(_rows))], -1).astype(np.int64).reshape(-1, 2)
    CASES.append(
        case(
            "SparseFillEmptyRows",
            _at,
            _values(len(_rows)),
            _ints([_count, 3]),
            np.float32(-1),
            tol=0,
        )
    )
CASES += [
    case(
        "SparseFillEmptyRows", _ints([[1, 0]]), np.array([b"a"], object), _ints([3, 1]), "", tol=0
    ),
    case("SparseFillEmptyRows", _ints([[1, 0]]), _values(2), _ints([3, 1]), np.float32(0)),
    case("SparseFillEmptyRowsGrad", _ints([2, 0]), _values(4), tol=0),
    case("SparseFillEmptyRowsGrad", _ints([]), _values(2), tol=0),
    case("SparseFillEmptyRowsGrad", _ints([4]), _values(4)),
]

for _axis in (0, 1, -1, 2):
    _a, _b = _sparse((2, 3), 3), _sparse((2, 3), 4)
    _joined = [x for pair in zip(_a, _b, strict=True) for x in pair]
    CASES.append(case("SparseConcat", *_joined, concat_dim=_axis, tol=0))
_a, _b = _sparse((2, 3), 3), _sparse((4, 3), 4)
_joined = [x for pair in zip(_a, _b, strict=True) for x in pair]
CASES += [case("SparseConcat", *_joined, concat_dim=axis, tol=0) for axis in (0, 1)]
_x = _sparse((3, 4), 5)
_cut = np.array([r for r in _x[0].tolist() if r[0] >= 1], np.int64).reshape(-1, 2)
CASES.append(
    case("SparseSliceGrad", _values(len(_cut)), _x[0], _ints([1, 0]), _cut - [1, 0], tol=0)
)
