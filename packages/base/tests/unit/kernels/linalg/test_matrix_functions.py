"""Functions of matrices undo one another; banded systems; sparse matrices in rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import run_op


@pytest.mark.parametrize("size", [1, 2, 6, 12])
def test_exponential_logarithm_and_square_root(size: int) -> None:
    rng = np.random.default_rng(size)
    x = rng.normal(size=(2, size, size)) / size + 0.3j * rng.normal(size=(2, size, size)) / size
    power = run_op("MatrixExponential", x)[0]
    np.testing.assert_allclose(run_op("MatrixLogarithm", power)[0], x, atol=1e-9)
    root = run_op("MatrixSquareRoot", power)[0]
    np.testing.assert_allclose(root @ root, power, atol=1e-9)
    half = run_op("MatrixExponential", x / 2)[0]
    np.testing.assert_allclose(root, half, atol=1e-9)


def test_an_exponential_of_large_and_of_defective_matrices() -> None:
    large = np.diag([30.0, -30.0, 0.0])
    np.testing.assert_allclose(
        np.diag(run_op("MatrixExponential", large)[0]), np.exp([30.0, -30.0, 0.0]), rtol=1e-10
    )
    shift = np.diag(np.ones(3), 1)
    want = [[1, 1, 1 / 2, 1 / 6], [0, 1, 1, 1 / 2], [0, 0, 1, 1], [0, 0, 0, 1]]
    np.testing.assert_allclose(run_op("MatrixExponential", shift)[0], want, atol=1e-14)


def test_no_real_root_gives_nan() -> None:
    assert np.isnan(run_op("MatrixSquareRoot", np.diag([-1.0, 2.0]))[0]).all()
    assert np.isnan(run_op("MatrixLogarithm", np.full((2, 2), np.nan + 0j))[0]).all()
    with pytest.raises(KernelError, match=r"square matrices\n  found: \[2, 3\]"):
        run_op("MatrixSquareRoot", np.ones((2, 3)))


@pytest.mark.parametrize("pivoting", [True, False])
def test_a_tridiagonal_solution_multiplied_gives_the_right_side(pivoting: bool) -> None:
    rng = np.random.default_rng(1)
    diagonals, rhs = rng.normal(size=(3, 3, 9)), rng.normal(size=(3, 9, 2))
    diagonals[:, 1] += 0 if pivoting else 4
    x = run_op("TridiagonalSolve", diagonals, rhs, partial_pivoting=pivoting)[0]
    bands = [diagonals[:, k : k + 1] for k in range(3)]
    np.testing.assert_allclose(run_op("TridiagonalMatMul", *bands, x)[0], rhs, atol=1e-9)


def test_an_order_names_each_row_once_and_fills_little() -> None:
    star = np.eye(6) * 9
    star[0] = star[:, 0] = 1
    star[0, 0] = 9
    (m,) = run_op("DenseToCSRSparseMatrix", star, np.argwhere(star))
    (order,) = run_op("SparseMatrixOrderingAMD", m)
    assert sorted(order.tolist()) == list(range(6))
    counts: list[Any] = []
    for given in (order, np.arange(6, dtype=np.int32)):
        (factor,) = run_op("SparseMatrixSparseCholesky", m, given, type="float64")
        counts.append(int(run_op("SparseMatrixNNZ", factor)[0]))
        dense = run_op("CSRSparseMatrixToDense", factor, type="float64")[0]
        np.testing.assert_allclose(dense @ dense.T, star[np.ix_(given, given)], atol=1e-12)
    assert counts == [11, 21]


def test_a_variant_of_another_kind_is_refused() -> None:
    with pytest.raises(KernelError, match=r"the input must be a sparse matrix\n  found: NoneType"):
        run_op("SparseMatrixNNZ", np.full((), None, object))
