"""Elements written and accumulated by index; repeated and wrong indices."""

import ml_dtypes
import numpy as np
from oracle import case

_RNG = np.random.default_rng(7)
_TENSORS = ("Update", "Add", "Sub", "Min", "Max")


def _values(*shape: int) -> np.ndarray:
    return _RNG.integers(-9, 9, shape).astype(np.float32)


_PLACES = [
    ([[0], [2]], (3,)),
    ([[0], [2]], (3, 2)),
    ([[0, 1], [2, 0], [0, 1]], (3, 2)),
    ([1], (3, 2)),
    ([[[1]], [[1]]], (3, 2)),
    ([[1], [1], [1]], (3,)),
    ([[3]], (3,)),
    ([[-1]], (3,)),
    ([[0, 2]], (3, 2)),
    ([[0, 0, 0]], (3, 2)),
]

CASES = []
for _i, _s in _PLACES:
    for _t in (np.int32, np.int64):
        _at = np.array(_i, _t)
        _inner = _s[_at.shape[-1] :]
        _u = _values(*_at.shape[:-1], *_inner)
        CASES.append(case("ScatterNd", _at, _u, np.array(_s, _t), tol=0))
        CASES += [case(f"TensorScatter{op}", _values(*_s), _at, _u, tol=0) for op in _TENSORS]
        CASES.append(case("ScatterNdNonAliasingAdd", _values(*_s), _at, _u, tol=0))
for _t in (np.float64, np.int32, np.int64, np.int8, np.complex64, ml_dtypes.bfloat16, np.float16):
    _u = _values(3).astype(_t)
    _at = np.array([[1], [1], [0]], np.int32)
    CASES.append(case("ScatterNd", _at, _u, np.array([4], np.int32), tol=0))
    CASES.append(case("TensorScatterUpdate", _values(4).astype(_t), _at, _u, tol=0))
    CASES.append(case("TensorScatterAdd", _values(4).astype(_t), _at, _u, tol=0))
    CASES.append(case("TensorScatterSub", _values(4).astype(_t), _at, _u, tol=0))
_TEXT = np.array([b"x", b"y"], object)
_AT = np.array([[2], [0]], np.int32)
_U = _values(2)
_SHAPE = np.array([3], np.int32)
CASES += [
    case("TensorScatterUpdate", np.array([b"a", b"b", b"c"], object), _AT, _TEXT, tol=0),
    case("TensorScatterUpdate", np.array([False, True, True]), _AT, np.array([True, False]), tol=0),
    case("ScatterNd", _AT, _TEXT, _SHAPE, tol=0),
    case("ScatterNd", np.array([[0], [0]], np.int32), _TEXT, _SHAPE, tol=0),
    case("ScatterNd", _AT, np.array([True, False]), _SHAPE, tol=0),
    case(
        "ScatterNd",
        np.zeros((0, 1), np.int32),
        np.zeros((0, 2), np.float32),
        np.array([3, 2], "i"),
        tol=0,
    ),
    case("ScatterNd", np.zeros((2, 0), np.int32), _values(2, 3), _SHAPE, tol=0),
    case("ScatterNd", _AT, _values(3), _SHAPE),
    case("ScatterNd", _AT, _U, np.array([-3], np.int32)),
    case("ScatterNd", _AT, _U, np.array([[3]], np.int32)),
    case(
        "ScatterNd", np.array([[5], [0]], np.int32), _U, _SHAPE, bad_indices_policy="IGNORE", tol=0
    ),
    case("ScatterNd", np.array([[5], [0]], np.int32), _U, _SHAPE, bad_indices_policy="ERROR"),
    case(
        "TensorScatterAdd",
        _values(3),
        np.array([[-1], [0]], np.int32),
        _U,
        bad_indices_policy="IGNORE",
        tol=0,
    ),
    case("TensorScatterUpdate", _values(3), np.int32(0), np.float32(1)),
]

for _op in ("InplaceUpdate", "InplaceAdd", "InplaceSub"):
    CASES += [
        case(_op, _values(3, 2), np.array([0, 2], np.int32), _values(2, 2), tol=0),
        case(_op, _values(3, 2), np.array([1, 1], np.int32), _values(2, 2), tol=0),
        case(_op, _values(3), np.array([4, -1], np.int32), _values(2), tol=0),
        case(_op, _values(3), np.array([0], np.int32), _values(2)),
    ]

for _op in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max"):
    for _t in (np.float32, np.int32, np.float64):
        for _i in ([1, 1, 0], 2, [[0, 2]], [3], [-1], []):
            _rows = np.array(_i, np.int32)
            _u = np.abs(_values(*_rows.shape, 2)).astype(_t) + _t(1)
            _name = f"ResourceScatter{_op}"
            CASES.append(case(_name, _values(3, 2).astype(_t), _rows, _u, tol=1e-6))
    CASES.append(
        case(
            f"ResourceScatter{_op}", _values(3, 2), np.array([0], np.int64), np.float32(2), tol=1e-6
        )
    )
    CASES.append(
        case(f"ResourceScatter{_op}", _values(3, 2), np.array([0, 1], np.int64), _values(2))
    )
for _op in ("Update", "Add", "Sub", "Min", "Max"):
    for _i, _s in _PLACES[:8]:
        _at = np.array(_i, np.int32)
        _u = _values(*_at.shape[:-1], *_s[_at.shape[-1] :])
        CASES.append(case(f"ResourceScatterNd{_op}", _values(*_s), _at, _u, tol=0))
