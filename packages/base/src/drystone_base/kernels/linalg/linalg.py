"""Decompositions of (batches of) matrices, inverses, determinants and linear systems."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.linalg._finite import finite_matrices

__all__: list[str] = []


def _check(call: Call, x: Array, square: bool = True) -> None:
    call.require(
        x.ndim >= 2, "input must be (a batch of) matrices",
        found=list(x.shape), needed="rank 2 or more",
    )  # fmt: skip
    call.require(
        not square or x.shape[-1] == x.shape[-2],
        "matrices must be square",
        found=list(x.shape),
        needed="[..., n, n]",
    )


def _adjoint(x: Array) -> Array:
    return np.asarray(np.conj(np.swapaxes(x, -1, -2)))


def _attempt(call: Call, function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``; a matrix that it cannot handle becomes an error of the node."""
    try:
        return function(*args)
    except np.linalg.LinAlgError as error:
        call.fail(
            "the matrix must allow the operation",
            found=str(error),
            needed="a finite matrix, invertible where it is inverted",
            inner=error,
        )


@kernel("Cholesky", "BatchCholesky")
@quiet
def cholesky(call: Call, x: Array) -> Array:
    """The lower triangle L with ``L L^H = x``; only x's lower triangle is read; TF ``Cholesky``.

    A matrix that is not positive definite gives NaN.
    """
    _check(call, x)
    if not x.size:
        return x
    lower = np.tril(widen(x))
    full = lower + _adjoint(np.tril(lower, -1))
    matrices = full.reshape(-1, *full.shape[-2:])
    factors = np.stack([_factor(matrix) for matrix in matrices])
    return factors.reshape(x.shape).astype(x.dtype, copy=False)


def _factor(matrix: Array) -> Array:
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(matrix, np.nan))


def _solved(matrices: Array, sides: Array) -> Array:
    """Solutions of linear systems; NaN for all of a system that is singular."""
    singular = (np.diagonal(matrices, axis1=-2, axis2=-1) == 0).any(-1)[..., None, None]
    unit = np.eye(matrices.shape[-1], dtype=matrices.dtype)
    found = np.linalg.solve(np.where(singular, unit, matrices), sides)
    return np.where(singular, np.asarray(np.nan, found.dtype), found)


@kernel("CholeskyGrad", "BatchCholeskyGrad")
@quiet
def cholesky_grad(call: Call, lower: Array, grad: Array) -> Array:
    """The gradient for the matrix, from its factor and the factor's gradient; TF ``CholeskyGrad``.

    Iain Murray, "Differentiation of the Cholesky decomposition", 2016.
    """
    _check(call, lower)
    call.require(
        grad.shape == lower.shape, "the factor and its gradient must have the same shape",
        found=f"{list(lower.shape)} and {list(grad.shape)}", needed="equal shapes",
    )  # fmt: skip
    factor = np.tril(widen(lower))
    middle = np.tril(np.matmul(_adjoint(factor), np.tril(widen(grad))))
    size = lower.shape[-1]
    middle[..., np.arange(size), np.arange(size)] *= 0.5
    left = _solved(_adjoint(factor), middle)
    whole = _adjoint(_solved(_adjoint(factor), _adjoint(left)))
    return np.asarray((whole + _adjoint(whole)) / 2).astype(lower.dtype, copy=False)


@kernel("MatrixInverse", "BatchMatrixInverse")
@quiet
def matrix_inverse(call: Call, x: Array) -> Array:
    """The inverse, or that of the adjoint; TF ``MatrixInverse``."""
    _check(call, x)
    wide = _adjoint(widen(x)) if call.attrs["adjoint"] else widen(x)
    return np.asarray(_attempt(call, np.linalg.inv, wide)).astype(x.dtype, copy=False)


@kernel("MatrixDeterminant", "BatchMatrixDeterminant")
@quiet
def matrix_determinant(call: Call, x: Array) -> Array:
    """``[..., n, n] -> [...]``; TF ``MatrixDeterminant``."""
    _check(call, x)
    return np.asarray(np.linalg.det(widen(x))).astype(x.dtype, copy=False)


@kernel("LogMatrixDeterminant")
@quiet
def log_matrix_determinant(call: Call, x: Array) -> tuple[Array, Array]:
    """Sign and logarithm of the determinant, ``[...]`` each; TF ``LogMatrixDeterminant``."""
    _check(call, x)
    sign, logarithm = np.linalg.slogdet(widen(x))
    return np.asarray(sign).astype(x.dtype), np.asarray(logarithm).astype(x.dtype)


def _check_system(call: Call, matrix: Array, rhs: Array, square: bool = True) -> None:
    _check(call, matrix, square)
    _check(call, rhs, square=False)
    pairs = zip(reversed(matrix.shape[:-2]), reversed(rhs.shape[:-2]), strict=False)
    equal = matrix.shape[:-2] == rhs.shape[:-2]
    broadcast = call.op == "MatrixTriangularSolve" and all(a == b or 1 in (a, b) for a, b in pairs)
    call.require(
        (equal or broadcast) and matrix.shape[-2] == rhs.shape[-2],
        "the matrix and the right-hand side must have the same rows and batch",
        found=f"{list(matrix.shape)} and {list(rhs.shape)}",
        needed="[..., m, n] and [..., m, k]",
    )


@kernel("MatrixSolve", "BatchMatrixSolve")
@quiet
def matrix_solve(call: Call, matrix: Array, rhs: Array) -> Array:
    """X with ``matrix @ X = rhs`` (or its adjoint's); TF ``MatrixSolve``."""
    _check_system(call, matrix, rhs)
    wide = _adjoint(widen(matrix)) if call.attrs["adjoint"] else widen(matrix)
    out = _attempt(call, np.linalg.solve, wide, widen(rhs))
    return np.asarray(out).astype(rhs.dtype, copy=False)


@kernel("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
@quiet
def matrix_triangular_solve(call: Call, matrix: Array, rhs: Array) -> Array:
    """X with ``triangle @ X = rhs``; batches broadcast; TF ``MatrixTriangularSolve``."""
    _check_system(call, matrix, rhs)
    triangle = np.tril(widen(matrix)) if call.attrs["lower"] else np.triu(widen(matrix))
    if call.attrs["adjoint"]:
        triangle = _adjoint(triangle)
    lead = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    left = np.broadcast_to(triangle, (*lead, *triangle.shape[-2:]))
    right = np.broadcast_to(widen(rhs), (*lead, *rhs.shape[-2:]))
    falling = call.attrs["lower"] == call.attrs["adjoint"]
    return _substitute(left, right, falling).astype(rhs.dtype, copy=False)


def _substitute(triangle: Array, rhs: Array, falling: bool) -> Array:
    """The solution row by row, from the last where ``falling``; a zero pivot gives infinities."""
    out = np.zeros(rhs.shape, rhs.dtype)
    size = triangle.shape[-1]
    for row in reversed(range(size)) if falling else range(size):
        known = np.matmul(triangle[..., row : row + 1, :], out)[..., 0, :]
        out[..., row, :] = (rhs[..., row, :] - known) / triangle[..., row, row, None]
    return out


@kernel("MatrixSolveLs", "BatchMatrixSolveLs")
@quiet
def matrix_solve_ls(call: Call, matrix: Array, rhs: Array, l2: Array) -> Array:
    """The least-squares solution with ridge ``l2``, of least norm; TF ``MatrixSolveLs``."""
    _check_system(call, matrix, rhs, square=False)
    call.require(
        l2.ndim == 0 and l2 >= 0, "l2_regularizer must be a scalar of 0 or more",
        found=l2.tolist(), needed="0 or more",
    )  # fmt: skip
    a, b = widen(matrix), widen(rhs)
    if not l2:
        lost, whole = finite_matrices(a)
        out = np.matmul(np.linalg.pinv(whole), b)
        return np.where(lost[..., None, None], np.nan, out).astype(rhs.dtype, copy=False)
    gram = np.matmul(_adjoint(a), a) + l2.astype(a.real.dtype) * np.eye(a.shape[-1], dtype=a.dtype)
    out = _attempt(call, np.linalg.solve, gram, np.matmul(_adjoint(a), b))
    return np.asarray(out).astype(rhs.dtype, copy=False)


@kernel("Qr")
@quiet
def qr(call: Call, x: Array) -> tuple[Array, Array]:
    """Q with orthonormal columns and upper triangular R, ``Q R = x``; TF ``Qr``."""
    _check(call, x, square=False)
    mode: Any = "complete" if call.attrs["full_matrices"] else "reduced"
    q, r = np.linalg.qr(widen(x) + 0, mode)  # of -0 the library would take the sign
    return q.astype(x.dtype, copy=False), r.astype(x.dtype, copy=False)


@kernel("Svd", "BatchSvd")
@quiet
def svd(call: Call, x: Array) -> tuple[Array, ...]:
    """Singular values, and U and V with ``x = U diag(s) V^H`` (or scalar zeros); TF ``Svd``."""
    _check(call, x, square=False)
    lost, whole = finite_matrices(x)
    if not call.attrs["compute_uv"]:
        values = _attempt(call, lambda m: np.linalg.svd(m, compute_uv=False), whole)
        values[lost] = np.nan
        return values.astype(x.dtype), np.zeros((), x.dtype), np.zeros((), x.dtype)
    full = call.attrs["full_matrices"]
    u, values, vh = _attempt(call, np.linalg.svd, whole, full)
    for part in (u, values, vh):
        part[lost] = np.nan
    return values.astype(x.dtype), u.astype(x.dtype), _adjoint(vh).astype(x.dtype)


@kernel("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
@quiet
def self_adjoint_eig(call: Call, x: Array) -> tuple[Array, Array]:
    """Eigenvalues, rising, and vectors (or a scalar zero); TF ``SelfAdjointEigV2``."""
    _check(call, x)
    if not call.attrs["compute_v"]:
        values = _attempt(call, np.linalg.eigvalsh, widen(x))
        return np.asarray(values).astype(x.dtype), np.zeros((), x.dtype)
    values, vectors = _attempt(call, np.linalg.eigh, widen(x))
    return np.asarray(values).astype(x.dtype), np.asarray(vectors).astype(x.dtype)


@kernel("SelfAdjointEig", "BatchSelfAdjointEig")
@quiet
def self_adjoint_eig_stacked(call: Call, x: Array) -> Array:
    """``[..., n + 1, n]``: the eigenvalues above the vectors; TF ``SelfAdjointEig``."""
    _check(call, x)
    values, vectors = _attempt(call, np.linalg.eigh, widen(x))
    return np.concatenate([values[..., None, :], vectors], -2).astype(x.dtype, copy=False)


@kernel("Lu")
@quiet
def lu(call: Call, x: Array) -> tuple[Array, Array]:
    """L (unit diagonal) and U in one matrix, and the order of rows that they need; TF ``Lu``."""
    _check(call, x)
    size = x.shape[-1]
    work = np.array(widen(x)).reshape(math.prod(x.shape[:-2]), size, size)
    order = np.tile(np.arange(size), (len(work), 1))
    each = np.arange(len(work))
    for k in range(size):
        best = k + np.abs(work[:, k:, k]).argmax(1)
        for rows in (work, order):
            rows[each, k], rows[each, best] = rows[each, best], np.array(rows[each, k])
        pivot = work[:, k, k, None]
        call.require(np.all(pivot != 0), "the matrix must be invertible", found="a zero pivot")
        work[:, k + 1 :, k] /= pivot
        work[:, k + 1 :, k + 1 :] -= work[:, k + 1 :, k, None] * work[:, k, None, k + 1 :]
    dtype = call.attrs["output_idx_type"].np
    return work.reshape(x.shape).astype(x.dtype), order.reshape(x.shape[:-1]).astype(dtype)


@kernel("Eig")
@quiet
def eig(call: Call, x: Array) -> tuple[Array, Array]:
    """Complex eigenvalues and vectors (or a scalar zero) of any square matrix; TF ``Eig``."""
    _check(call, x)
    dtype = call.attrs["Tout"].np
    if not call.attrs["compute_v"]:
        values = _attempt(call, np.linalg.eigvals, x.astype(dtype))
        return np.asarray(values).astype(dtype), np.zeros((), dtype)
    values, vectors = _attempt(call, np.linalg.eig, x.astype(dtype))
    return np.asarray(values).astype(dtype), np.asarray(vectors).astype(dtype)
