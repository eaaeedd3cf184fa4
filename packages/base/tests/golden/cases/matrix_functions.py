"""Golden cases of functions of matrices and of tridiagonal systems."""

import itertools
from collections.abc import Iterator

import numpy as np
from drawing import drawer
from oracle import Case, case

_draw = drawer(701)
_KINDS = ("f4", "f8", "c8", "c16")


def _functions() -> Iterator[Case]:
    for kind in _KINDS:
        for shape in ((1, 1), (3, 3), (2, 5, 5), (0, 2, 2), (2, 0, 0)):
            x = _draw(shape, kind)
            near = (x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1]) * 2).astype(kind)
            skew = (x * 0.3 + np.eye(shape[-1]) * 3).astype(kind)
            tol = 1e-3 if kind in ("f4", "c8") else 1e-8
            for given in (near, skew):
                yield case("MatrixSquareRoot", given, tol=tol)
                if kind in ("c8", "c16"):
                    yield case("MatrixLogarithm", given, tol=tol)
        yield case("MatrixSquareRoot", np.triu(np.ones((4, 4))).astype(kind), tol=1e-4)
        yield case("MatrixSquareRoot", _draw((2, 3), kind), note="refused")
    yield case("MatrixLogarithm", np.diag([-1, -3]).astype("c8"))
    yield case("MatrixLogarithm", _draw((3,), "c8"), note="refused")


def _tridiagonal() -> Iterator[Case]:
    for kind, pivoting in itertools.product(_KINDS, (True, False)):
        for lead, size in (((), 5), ((2,), 4), ((), 1), ((), 2), ((2, 2), 3)):
            diagonals, rhs = _draw((*lead, 3, size), kind), _draw((*lead, size, 2), kind)
            attrs = {"partial_pivoting": pivoting, "tol": 1e-2}
            if not pivoting:
                diagonals[..., 1, :] += 5
            yield case("TridiagonalSolve", diagonals, rhs, **attrs)
        yield case("TridiagonalSolve", diagonals * 0, rhs, **attrs)
        rhs = _draw((2, 4, 3), kind)
        bands = [_draw((2, 1, 4), kind) for _ in range(3)]
        yield case("TridiagonalMatMul", *bands, rhs)
        yield case("TridiagonalMatMul", *[v[:, :, :1] for v in bands], rhs[:, :1])
    yield case("TridiagonalSolve", _draw((3, 4)), _draw((5, 1)), note="refused")
    yield case("TridiagonalSolve", _draw((2, 4)), _draw((4, 1)), note="refused")
    yield case("TridiagonalMatMul", *[v[0] for v in bands], rhs, note="refused")
    yield case("TridiagonalSolve", _draw((3, 4)), _draw((4, 1)), perturb_singular=True)


CASES = list(itertools.chain(_functions(), _tridiagonal()))
