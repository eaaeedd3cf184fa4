"""Matrices: products, diagonals, factorizations; Fourier transforms."""

from typing import Any

import numpy as np
from exact import gram

from parity.draft import Draft, Drawer, Rule
from parity.drawers import choice, fixed, scalar, shaped, some

_COMPLEX = {"complex64": "complex64", "complex128": "complex128", "float64": "complex128"}


def _factor(left: str, inner: str, right: str, flags: tuple[str, ...]) -> Drawer:
    """A matrix of a product, turned where a flag of the op says so."""

    def draw(d: Draft) -> Any:
        turned = any(d[f] for f in flags if f in d)
        first, last = (inner, right) if not turned else (right, inner)
        batch = d.shape(left)
        return d.tensor(d.making, (*batch, d.dim(first), d.dim(last)))

    return draw


def _definite(arg: str) -> Drawer:
    def draw(d: Draft) -> Any:
        batch, n = d.shape("..."), d.dim("n")
        kind = d.dtype(arg)
        a = gram(d.values(kind, (*batch, n, n), False)) + (n + 1) * np.eye(n)
        return (a if kind.is_complex else a.real).astype(kind.np)

    return draw


def _mixed(spec: str) -> Drawer:
    """Well-conditioned: a multiple of the unit matrix is added."""

    def draw(d: Draft) -> Any:
        value = d.tensor(d.making, d.shape(spec), False)
        return (value + 9 * np.eye(*value.shape[-2:])).astype(value.dtype)

    return draw


def _lower(d: Draft) -> Any:
    return np.tril(_mixed("... n n")(d)).astype(d.dtype("l").np)


def _diagonals(d: Draft) -> Any:
    low = d.size(-2, 2)
    return np.array(d.pick(low, [low], [low, d.size(low, 2)]), np.int32)


_EQUATIONS = (
    "ij,jk->ik",
    "bij,bjk->bik",
    "ij->ji",
    "ij->",
    "ii->i",
    "i,j->ij",
    "...ij,...jk->...ik",
    "ij,ij->",
    "abc,cd->abd",
    "ij,kj->ik",
    "abcd,cdef->abef",
    "ii",
    "i,i",
)


def _einsum(d: Draft) -> Any:
    parts = d["equation"].split("->")[0].split(",")
    shapes = [
        (*(d.shape("...") if "..." in p else ()), *(d.dim(c) for c in p.replace("...", "")))
        for p in parts
    ]
    return [d.values(d.dtype("inputs"), s) for s in shapes]


def _lengths(rank: int) -> Drawer:
    return lambda d: np.array([d.size(1, 7) for _ in range(rank)], np.int32)


def _fft(rank: int) -> Rule:
    spec = "... " + " ".join("uvw"[:rank])
    return Rule(
        {
            "input": shaped(spec, False),
            "fft_length": _lengths(rank),
            "Tcomplex": lambda d: (
                _COMPLEX.get(d["Treal"], "complex64")
                if "Treal" in d
                else d.pick("complex64", "complex128")
            ),
        },
        dims={"u": (1, 7), "v": (1, 7), "w": (1, 5)},
        tol=10,
        why="another factorization of the transform",
    )


def _ifft(rank: int) -> Rule:
    rule = _fft(rank)
    real = {"complex128": "float64"}
    draw = {k: v for k, v in rule.draw.items() if k != "Tcomplex"}
    return Rule(
        draw | {"Treal": lambda d: real.get(d["Tcomplex"], "float32")},
        dims=rule.dims,
        tol=10,
        why="another factorization of the transform",
    )


_N = {"n": (0, 5), "m": (1, 5), "k": (1, 3)}
_SOLVE = "sums in another order, and pivots"

RULES: dict[str, Rule] = {
    "MatMul SparseMatMul": Rule(
        {
            "a": lambda d: _turned(d, "m", "k", "transpose_a"),
            "b": lambda d: _turned(d, "k", "n", "transpose_b"),
        },
        tol=4,
        why="sums in another order",
    ),
    "BatchMatMul BatchMatMulV2 BatchMatMulV3": Rule(
        {
            "x": lambda d: _turned(d, "m", "k", "adj_x", "..."),
            "y": lambda d: _turned(d, "k", "n", "adj_y", "..."),
            "Tout": lambda d: d["Ta"],
            "Tb": lambda d: d["Ta"],
        },
        tol=4,
        why="sums in another order",
    ),
    "Einsum": Rule(
        {
            "equation": choice(*_EQUATIONS),
            "inputs": _einsum,
            "N": lambda d: d["equation"].count(",") + 1,
        },
        tol=4,
        why="sums in another order",
    ),
    "BatchMatrixBandPart MatrixBandPart": Rule(
        {"input": some(4, 2), "num_lower": scalar(-1, 3), "num_upper": scalar(-1, 3)}
    ),
    "MatrixDiag BatchMatrixDiag": Rule({"diagonal": some(3, 1)}),
    "Diag": Rule({"diagonal": some(3, 1)}),
    "DiagPart": Rule({"input": lambda d: d.tensor("input", d.pick(*[(s := d.any_shape(2)) + s]))}),
    "MatrixDiagPart BatchMatrixDiagPart": Rule({"input": some(4, 2)}),
    "MatrixDiagPartV2 MatrixDiagPartV3": Rule(
        {"input": shaped("... m n"), "k": _diagonals, "padding_value": shaped("")},
        dims={"m": (2, 5), "n": (2, 5)},
    ),
    "MatrixDiagV2 MatrixDiagV3": Rule(
        {
            "diagonal": shaped("... n"),
            "k": lambda d: np.array(d.size(-2, 2), np.int32),
            "num_rows": fixed(np.array(-1, np.int32)),
            "num_cols": fixed(np.array(-1, np.int32)),
            "padding_value": shaped(""),
        }
    ),
    "MatrixSetDiag BatchMatrixSetDiag": Rule(
        {
            "input": shaped("... m n"),
            "diagonal": lambda d: d.tensor(
                "diagonal", (*d.shape("..."), min(d.dim("m"), d.dim("n")))
            ),
        }
    ),
    "MatrixSetDiagV2 MatrixSetDiagV3": Rule(
        {
            "input": shaped("... n n"),
            "k": lambda d: np.array(d.size(-1, 1), np.int32),
            "diagonal": lambda d: d.tensor(
                "diagonal", (*d.shape("..."), d.dim("n") - abs(int(d["k"])))
            ),
        },
        dims={"n": (2, 5)},
    ),
    "Cholesky": Rule({"input": _definite("input")}, dims=_N, tol=20, why=_SOLVE, spoil=False),
    "CholeskyGrad": Rule(
        {"l": _lower, "grad": shaped("... n n", False)}, dims=_N, tol=50, why=_SOLVE, spoil=False
    ),
    "MatrixInverse MatrixDeterminant LogMatrixDeterminant": Rule(
        {"input": _mixed("... n n")}, dims=_N, tol=50, why=_SOLVE, spoil=False
    ),
    "MatrixSolve": Rule(
        {"matrix": _mixed("... n n"), "rhs": shaped("... n k", False)}, dims=_N, tol=50, why=_SOLVE
    ),
    "MatrixTriangularSolve": Rule(
        {"matrix": _mixed("... n n"), "rhs": shaped("... n k", False)},
        dims=_N,
        tol=50,
        why=_SOLVE,
        types=("float32", "float64", "complex64", "complex128"),
    ),
    "MatrixSolveLs": Rule(
        {
            "matrix": _mixed("... m k"),
            "rhs": shaped("... m n", False),
            "fast": fixed(True),
            "l2_regularizer": choice(np.float64(0), np.float64(0.5)),
        },
        dims={"m": (3, 5), "k": (1, 3), "n": (1, 3)},
        tol=1000,
        why="normal equations",
        spoil=False,
    ),
    "Qr": Rule(
        {"input": _mixed("... m k")},
        dims={"m": (3, 5), "k": (1, 3)},
        tol=100,
        why=_SOLVE,
        spoil=False,
        types=("float32", "float64", "complex64", "complex128"),
    ),
    "SelfAdjointEigV2": Rule(
        {"input": _definite("input"), "compute_v": fixed(False)},
        dims=_N,
        compared=1,
        tol=100,
        why="an iteration",
        spoil=False,
    ),
    "Svd": Rule(
        {"input": shaped("... m k", False), "compute_uv": fixed(False)},
        compared=1,
        dims={"m": (1, 5), "k": (1, 4)},
        tol=100,
        why="an iteration",
        spoil=False,
    ),
    "Eig": Rule(
        {
            "input": _definite("input"),
            "compute_v": fixed(False),
            "Tout": lambda d: _COMPLEX.get(d["T"], "complex64"),
        },
        compared=1,
        dims={"n": (0, 1)},
        tol=100,
        why="eigenvalues come in any order",
        spoil=False,
    ),
    "FFT IFFT": _fft(1),
    "FFT2D IFFT2D": _fft(2),
    "FFT3D IFFT3D": _fft(3),
    "RFFT": _fft(1),
    "RFFT2D": _fft(2),
    "RFFT3D": _fft(3),
    "IRFFT": _ifft(1),
    "IRFFT2D": _ifft(2),
    "IRFFT3D": _ifft(3),
}


def _turned(d: Draft, rows: str, columns: str, flag: str, batch: str = "") -> Any:
    names = (columns, rows) if d[flag] else (rows, columns)
    return d.tensor(d.making, d.shape(f"{batch} {names[0]} {names[1]}"))
