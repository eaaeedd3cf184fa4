"""Functions of matrices and tridiagonal systems."""

from typing import Any

import numpy as np

from parity.draft import Draft, Rule
from parity.drawers import fixed, shaped


def _near_unit(d: Draft) -> Any:
    value = d.values(d.dtype("input"), d.shape("... n n"), False)
    size = np.abs(value).max(initial=1)
    return (value / size * 0.4 + 2 * np.eye(value.shape[-1])).astype(value.dtype)


def _dominant(d: Draft) -> Any:
    value = d.values(d.dtype("diagonals"), d.shape("... 3 m"), False)
    value[..., 1, :] += 3 * np.abs(value).max(initial=1)
    return value


_WHY = "another order of the same steps"

RULES: dict[str, Rule] = {
    "MatrixSquareRoot MatrixLogarithm": Rule(
        {"input": _near_unit}, dims={"n": (1, 5)}, tol=50, why=_WHY, spoil=False
    ),
    "TridiagonalSolve": Rule(
        {
            "diagonals": _dominant,
            "rhs": shaped("... m n", False),
            "perturb_singular": fixed(False),
        },
        dims={"m": (1, 6), "n": (1, 3)},
        tol=50,
        why=_WHY,
    ),
    "TridiagonalMatMul": Rule(
        {
            "superdiag": shaped("... 1 m", False),
            "maindiag": shaped("... 1 m", False),
            "subdiag": shaped("... 1 m", False),
            "rhs": shaped("... m n", False),
        },
        dims={"m": (1, 6), "n": (1, 3)},
        tol=4,
        why="rounded after each product, or not",
    ),
}
