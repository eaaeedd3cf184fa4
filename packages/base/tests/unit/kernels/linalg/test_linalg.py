"""Decompositions multiply back; their factors have the properties that define them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

DIM = st.integers(1, 5)


def draw(*shape: int, seed: int = 0, kind: Any = np.float64) -> Any:
    rng = np.random.default_rng(seed)
    values: Any = rng.normal(size=shape)
    if np.dtype(kind).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return values.astype(kind)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


@settings(max_examples=25, deadline=None)
@given(DIM, DIM, st.booleans(), st.sampled_from([np.float64, np.complex128]), st.integers(0, 99))
def test_qr_and_svd_multiply_back(m: int, n: int, full: bool, kind: Any, seed: int) -> None:
    x = draw(2, m, n, seed=seed, kind=kind)
    q, r = run_op("Qr", x, full_matrices=full)
    np.testing.assert_allclose(q @ r, x, atol=1e-10)
    np.testing.assert_allclose(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (
        2, q.shape[-1], q.shape[-1])), atol=1e-10)  # fmt: skip
    np.testing.assert_allclose(np.tril(r, -1), 0, atol=1e-12)
    assert infer_shapes("Qr", [x.shape], full_matrices=full) == [q.shape, r.shape]
    s, u, v = run_op("Svd", x, full_matrices=full)
    least = min(m, n)
    back = (u[..., :least] * s[:, None].astype(kind)) @ adjoint(v[..., :least])
    np.testing.assert_allclose(back, x, atol=1e-10)
    assert (np.diff(s.real) <= 1e-12).all()
    assert infer_shapes("Svd", [x.shape], full_matrices=full) == [s.shape, u.shape, v.shape]


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_eigenvectors(kind: Any) -> None:
    x = draw(3, 4, 4, kind=kind)
    symmetric = x + adjoint(x)
    values, vectors = run_op("SelfAdjointEigV2", symmetric)
    assert values.dtype == vectors.dtype == kind
    np.testing.assert_allclose(symmetric @ vectors, vectors * values[:, None], atol=1e-4)
    values, vectors = run_op("Eig", x, Tout="complex64")
    np.testing.assert_allclose(x @ vectors, vectors * values[:, None], atol=1e-4)
    assert infer_shapes("Eig", [(-1, 4, 4)], Tout="complex64") == [(-1, 4), (-1, 4, 4)]


def test_older_names_are_the_same_ops() -> None:
    x = draw(2, 3, 3)
    positive = x @ adjoint(x) + np.eye(3)
    for op in ("Cholesky", "MatrixInverse", "MatrixDeterminant", "Svd", "SelfAdjointEigV2"):
        for new, old in zip(run_op(op, positive), run_op(f"Batch{op}", positive), strict=True):
            np.testing.assert_array_equal(new, old)
        assert infer_shapes(op, [(-1, 3, 3)]) == infer_shapes(f"Batch{op}", [(-1, 3, 3)])
    values, vectors = run_op("SelfAdjointEigV2", positive)
    (stacked,) = run_op("SelfAdjointEig", positive)
    np.testing.assert_array_equal(stacked[:, 0], values)
    np.testing.assert_array_equal(stacked[:, 1:], vectors)
    assert infer_shapes("SelfAdjointEig", [(-1, 3, 3)]) == [(-1, 4, 3)]


def test_lu_multiplies_back() -> None:
    x = draw(2, 4, 4)
    whole, order = run_op("Lu", x)
    lower = np.tril(whole, -1) + np.eye(4)
    want = np.take_along_axis(x, order[..., None], 1)
    np.testing.assert_allclose(lower @ np.triu(whole), want, atol=1e-12)
    assert infer_shapes("Lu", [(-1, 4, -1)]) == [(-1, 4, 4), (-1, 4)]


def test_cholesky_of_a_matrix_that_has_none_is_nan() -> None:
    x = np.stack([np.eye(2), -np.eye(2)]).astype(np.float32)
    (out,) = run_op("Cholesky", x)
    np.testing.assert_array_equal(out[0], np.eye(2))
    np.testing.assert_array_equal(out[1], [[np.nan, 0], [np.nan, np.nan]])


def test_least_squares_without_ridge_is_the_pseudo_inverse() -> None:
    a, b = draw(5, 3), draw(5, 2, seed=1)
    (x,) = run_op("MatrixSolveLs", a, b, np.float64(0))
    np.testing.assert_allclose(x, np.linalg.lstsq(a, b)[0], atol=1e-10)


@pytest.mark.parametrize("place", [(0, 0), (3, 1), (4, 4)])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_singular_values_of_what_is_not_finite_are_nan(value: float, place: Any) -> None:
    # LAPACK never returns from some of these matrices.
    a = np.random.default_rng(0).normal(size=(2, 5, 5))
    a[(0, *place)] = value
    solved = run_op("MatrixSolveLs", a, a, np.float64(0), fast=True)[0]
    options = {"max_iter": 9, "epsilon": 1e-6, "precision_config": ""}
    parts = [solved, *run_op("XlaSvd", a, **options), *run_op("Svd", a)]
    assert all(np.isnan(part[0]).all() and np.isfinite(part[1]).all() for part in parts)


def test_singular_systems_are_refused() -> None:
    with pytest.raises(KernelError, match="Singular matrix") as caught:
        run_op("MatrixInverse", np.ones((2, 2)))
    assert caught.value.status == "INVALID_ARGUMENT"


def test_partly_known_shapes() -> None:
    assert infer_shapes("Cholesky", [(-1, 3, -1)]) == [(-1, 3, 3)]
    assert infer_shapes("MatrixSolve", [(-1, 3, 3), (2, -1, 5)]) == [(2, 3, 5)]
    assert infer_shapes("MatrixTriangularSolve", [(3, 3), (2, -1, 5)]) == [(2, 3, 5)]
    assert infer_shapes("Svd", [(-1, -1, 3)]) == [(-1, -1), (-1, -1, -1), (-1, 3, -1)]
    assert infer_shapes("Qr", [None]) == [None, None]
