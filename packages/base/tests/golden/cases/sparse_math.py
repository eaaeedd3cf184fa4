"""Arithmetic and reductions on sparse tensors."""

import numpy as np
from oracle import case

_RNG = np.random.default_rng(13)


def _ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


def _values(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape).astype(np.float32)


def _sparse(shape: tuple[int, ...], count: int) -> list[np.ndarray]:
    flat = np.sort(_RNG.choice(int(np.prod(shape)), count, replace=False))
    rows = np.stack(np.unravel_index(flat, shape), -1).astype(np.int64)
    return [rows, _values(count), _ints(shape)]


CASES = []
for _a, _b in [(False, False), (True, False), (False, True), (True, True)]:
    _x = _sparse((4, 3) if _a else (3, 4), 5)
    _y = _values(2, 4) if _b else _values(4, 2)
    CASES.append(case("SparseTensorDenseMatMul", *_x, _y, adjoint_a=_a, adjoint_b=_b))
    _complex = _y.astype(np.complex64) * (1 + 1j)
    _z = [_x[0], _x[1] * np.complex64(1 - 2j), _x[2]]
    CASES.append(case("SparseTensorDenseMatMul", *_z, _complex, adjoint_a=_a, adjoint_b=_b))
_x = _sparse((3, 4), 5)
CASES += [
    case("SparseTensorDenseMatMul", _x[0].astype(np.int32), *_x[1:], _values(4, 2)),
    case("SparseTensorDenseMatMul", *_x, _values(3, 2)),
    case("SparseTensorDenseMatMul", *_sparse((3, 4), 0), _values(4, 2)),
    case("SparseTensorDenseMatMul", _ints([[3, 0]]), _values(1), _ints([3, 4]), _values(4, 2)),
]

for _s, _m, _n in [((4,), 2, 3), ((3, 4), 5, 6), ((2, 3, 2), 4, 0)]:
    _x, _y = _sparse(_s, _m), _sparse(_s, _n)
    CASES += [
        case("SparseAdd", *_x, *_y, np.float32(0)),
        case("SparseAdd", *_x, *_y, np.float32(0.9)),
        case("SparseSparseMaximum", *_x, *_y),
        case("SparseSparseMinimum", *_x, *_y),
        case("SparseTensorDenseAdd", *_x, _values(*_s)),
        case("SparseAddGrad", _values(_m), _x[0], _y[0], _x[0]),
        case("SparseDenseCwiseMul", *_x, _values(*_s)),
        case("SparseDenseCwiseDiv", *_x, _values(*_s)),
        case("SparseDenseCwiseAdd", *_x, _values(*_s)),
        case("SparseDenseCwiseMul", *_x, _values(_s[-1])),
        case("SparseDenseCwiseMul", *_x, np.float32(3)),
        case("SparseDenseCwiseMul", *_x, _values(*_s, 1, 1)),
    ]
    if len(_s) > 1:
        CASES.append(case("SparseSoftmax", *_x))
    for _axes in ([], [0], [-1], [0, 1], [3]):
        for _keep in (True, False):
            for _op in ("Sum", "Max", "SumSparse", "MaxSparse"):
                CASES += [
                    case(f"SparseReduce{_op}", *_x, np.array(_axes, np.int32), keep_dims=_keep)
                ]
_x = _sparse((3, 4), 5)
CASES += [
    case("SparseAdd", *_x, *_sparse((4, 3), 2), np.float32(0)),
    case("SparseTensorDenseAdd", *_x, _values(4, 3)),
    case("SparseSoftmax", *_sparse((4,), 2)),
    case("SparseAdd", _x[0], _x[1].astype(np.int32), _x[2], _x[0], _x[1].astype(np.int32), _x[2],
         np.int32(0)),
]  # fmt: skip
