"""Golden cases of the matrix products."""

from collections.abc import Iterator

import numpy as np
from drawing import BFLOAT16, drawer, tolerance
from oracle import Case, case

_draw = drawer(101, 0, 120)


def _matmul() -> Iterator[Case]:
    kinds = ["f4", "f8", "f2", BFLOAT16, "i4", "i8", "c8", "c16"]
    for kind in kinds:
        for ta in (False, True):
            for tb in (False, True):
                a = _draw((5, 3) if ta else (3, 5), kind)
                b = _draw((4, 5) if tb else (5, 4), kind)
                tol = tolerance(a.dtype)
                yield case("MatMul", a, b, transpose_a=ta, transpose_b=tb, tol=tol)
    for shapes in [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)), ((1, 1), (1, 1))]:
        yield case("MatMul", *(_draw(s, "f4") for s in shapes))
    odd = np.array([[np.nan, 1], [np.inf, 2], [0.0, -0.0]], np.float32)
    yield case("MatMul", odd, np.eye(2, dtype=np.float32), note="nan")
    big = np.full((2, 2), 2**31 - 1, np.int32)
    yield case("MatMul", big, big, tol=0, note="overflow")
    yield case("MatMul", _draw((2, 3), "f4"), _draw((2, 3), "f4"), note="refused")
    yield case("MatMul", _draw((2, 3, 1), "f4"), _draw((2, 3), "f4"), note="refused")


def _batch() -> Iterator[Case]:
    pairs = [
        ((2, 3, 4), (2, 4, 5)),
        ((1, 3, 4), (6, 4, 2)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((3, 4), (4, 2)),
        ((0, 3, 4), (0, 4, 5)),
        ((2, 3, 0), (2, 0, 5)),
    ]
    for left, right in pairs:
        for kind in ("f4", "c8", "f2", "i4"):
            a, b = _draw(left, kind), _draw(right, kind)
            tol = tolerance(a.dtype)
            yield case("BatchMatMulV2", a, b, tol=tol)
            adjoint = np.conj(np.swapaxes(a, -1, -2)), np.conj(np.swapaxes(b, -1, -2))
            yield case("BatchMatMulV2", *adjoint, adj_x=True, adj_y=True, tol=tol)
    for kind in ("f4", "f8", BFLOAT16, "i8"):
        a, b = _draw((2, 3, 4), kind), _draw((2, 4, 5), kind)
        yield case("BatchMatMul", a, b, tol=tolerance(a.dtype))
        yield case("BatchMatMulV3", a, b, Tout=a.dtype.name, tol=tolerance(a.dtype))
    a, b = _draw((2, 3, 4), "i1"), _draw((2, 4, 5), "i1")
    yield case("BatchMatMulV3", a, b, Tout="int32", tol=0)
    yield case("BatchMatMulV3", a.astype("u1"), b.astype("u1"), Tout="int32", tol=0)
    yield case("BatchMatMul", _draw((2, 3, 4), "f4"), _draw((1, 4, 5), "f4"), note="refused")
    yield case("BatchMatMulV2", _draw((2, 3, 4), "f4"), _draw((3, 4, 5), "f4"), note="refused")
    yield case("BatchMatMulV2", _draw((2, 3, 4), "f4"), _draw((2, 3, 5), "f4"), note="refused")
    yield case("BatchMatMulV2", _draw((4,), "f4"), _draw((4, 5), "f4"), note="refused")


def _others() -> Iterator[Case]:
    for left in ("f4", BFLOAT16):
        for right in ("f4", BFLOAT16):
            a, b = _draw((3, 4), left), _draw((4, 2), right)
            a[0], b[:, 1] = 0, 0
            yield case("SparseMatMul", a, b)
            flags = {"a_is_sparse": True, "b_is_sparse": True}
            yield case("SparseMatMul", a.T, b.T, transpose_a=True, transpose_b=True, **flags)
    for kind in ("f4", "f8", "f2", BFLOAT16, "i4", "i8", "u1", "i1", "i2", "u2", "u4", "u8"):
        for shape in [(3,), (2, 3), (2, 2, 3), (0, 3)]:
            a, b = _draw(shape, kind), _draw(shape, kind)
            yield case("Cross", a, b, tol=tolerance(a.dtype))
    yield case("Cross", _draw((2, 4), "f4"), _draw((2, 4), "f4"), note="refused")
    yield case("Cross", _draw((2, 3), "f4"), _draw((1, 3), "f4"), note="refused")


CASES: list[Case] = [*_matmul(), *_batch(), *_others()]
