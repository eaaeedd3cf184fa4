"""Sparse matrices in rows (CSR), held in variants: made, taken apart, multiplied, factorized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from drystone_base.kernels._indices import bad_rows, int_vector
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.sparse._sparse import check_sparse
from drystone_base.state.variables import handle_array

__all__ = ["CsrMatrix"]


class _Part(NamedTuple):
    """One matrix: where rows start, and the column and value of each element."""

    starts: Array
    columns: Array
    values: Array

    def rows(self) -> Array:
        """The row of each element."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))


@dataclass(frozen=True)
class CsrMatrix:
    """A sparse matrix ``[m, n]`` or a batch of them ``[b, m, n]``."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    parts: tuple[_Part, ...]

    @property
    def held(self) -> Array:
        """The variant that holds it."""
        return handle_array(self)

    def dense(self) -> Array:
        """The same with its zeros."""
        out = np.zeros((len(self.parts), *self.shape[-2:]), self.dtype)
        for matrix, part in zip(out, self.parts, strict=True):
            matrix[part.rows(), part.columns] = part.values
        return out.reshape(self.shape)


def _matrix(call: Call, value: Array, what: str = "the input", dtype: object = None) -> CsrMatrix:
    held = value.item() if value.size == 1 else None
    if not isinstance(held, CsrMatrix):
        call.fail(
            f"{what} must be a sparse matrix",
            found=type(held).__name__,
            needed="a variant that a CSR op made",
        )
    call.require(
        dtype is None or held.dtype == dtype,
        f"{what} must have the node's type",
        found=str(held.dtype),
        needed=str(dtype),
    )
    return held


def _part(rows: Array, columns: Array, values: Array, height: int) -> _Part:
    """A matrix of elements that are sorted by row."""
    counts = np.bincount(rows, minlength=height)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return _Part(starts, columns.astype(np.int32), values)


def _gathered(call: Call, indices: Array, values: Array, shape: tuple[int, ...]) -> CsrMatrix:
    call.require(
        len(shape) in (2, 3), "a sparse matrix must have rank 2 or 3", found=list(shape),
        needed="[m, n] or [b, m, n]",
    )  # fmt: skip
    batch = shape[0] if len(shape) == 3 else 1
    check_size(call, (batch, shape[-2] + 1), np.dtype(np.int32))
    bad_rows(call, indices, shape)
    which = indices[:, 0] if len(shape) == 3 else np.zeros(len(indices), np.int64)
    parts = []
    for k in range(batch):
        own = which == k
        rows, columns = indices[own, -2], indices[own, -1]
        parts.append(_part(rows, columns, values[own], shape[-2]))
    return CsrMatrix(shape, values.dtype, tuple(parts))


@kernel("SparseTensorToCSRSparseMatrix")
def from_sparse(call: Call, indices: Array, values: Array, dense_shape: Array) -> Array:
    """A sparse tensor of rank 2 or 3 as a matrix; TF ``SparseTensorToCSRSparseMatrix``."""
    check_sparse(call, indices, values, dense_shape)
    return _gathered(call, indices, values, int_vector(call, dense_shape, "dense_shape")).held


@kernel("DenseToCSRSparseMatrix")
def from_dense(call: Call, x: Array, indices: Array) -> Array:
    """The elements of a tensor at given places as a matrix; TF ``DenseToCSRSparseMatrix``."""
    call.require(
        indices.ndim == 2 and indices.shape[1] == x.ndim,
        "indices must hold a number for each dimension",
        found=list(indices.shape),
        needed=f"[n, {x.ndim}]",
    )
    call.require(x.ndim in (2, 3), "the input must have rank 2 or 3", found=list(x.shape))
    bad_rows(call, indices, x.shape)
    return _gathered(call, indices, x[tuple(indices.T)], x.shape).held


@kernel("CSRSparseMatrixToSparseTensor")
def to_sparse(call: Call, value: Array) -> tuple[Array, Array, Array]:
    """Indices, values and shape; TF ``CSRSparseMatrixToSparseTensor``."""
    m = _matrix(call, value, dtype=call.attrs["type"].np)
    places = [np.stack([p.rows(), p.columns], 1).astype(np.int64) for p in m.parts]
    if len(m.shape) == 3:
        places = [np.insert(rows, 0, k, 1) for k, rows in enumerate(places)]
    empty = np.zeros((0, len(m.shape)), np.int64)
    values = np.concatenate([np.zeros(0, m.dtype), *(p.values for p in m.parts)])
    return np.concatenate([empty, *places]), values, np.array(m.shape, np.int64)


@kernel("CSRSparseMatrixToDense")
def to_dense(call: Call, value: Array) -> Array:
    """The matrix with its zeros; TF ``CSRSparseMatrixToDense``."""
    m = _matrix(call, value, dtype=call.attrs["type"].np)
    check_size(call, m.shape, call.attrs["type"].np)
    return m.dense()


@kernel("CSRSparseMatrixComponents")
def components(call: Call, value: Array, index: Array) -> tuple[Array, Array, Array]:
    """Row starts, columns and values of one matrix of a batch; TF ``CSRSparseMatrixComponents``."""
    m = _matrix(call, value, dtype=call.attrs["type"].np)
    call.require(
        index.ndim == 0 and 0 <= int(index) < len(m.parts),
        "index must be one of the batch's",
        found=index.tolist(),
        needed=f"0 to {len(m.parts) - 1}",
    )
    starts, columns, values = m.parts[int(index)]
    return starts, columns, values


@kernel("SparseMatrixNNZ")
def count_elements(call: Call, value: Array) -> Array:
    """How many elements are kept, of each matrix of a batch; TF ``SparseMatrixNNZ``."""
    m = _matrix(call, value)
    counts = np.array([p.columns.size for p in m.parts], np.int32)
    return counts if len(m.shape) == 3 else counts.reshape(())


def _transposed(m: CsrMatrix, conjugate: bool) -> CsrMatrix:
    *lead, rows, columns = m.shape
    parts = []
    for part in m.parts:
        order = np.argsort(part.columns, kind="stable")
        values = np.conj(part.values) if conjugate else part.values
        parts.append(_part(part.columns[order], part.rows()[order], values[order], columns))
    return CsrMatrix((*lead, columns, rows), m.dtype, tuple(parts))


@kernel("SparseMatrixTranspose")
def transpose(call: Call, value: Array) -> Array:
    """The (conjugate) transpose; TF ``SparseMatrixTranspose``."""
    m = _matrix(call, value, dtype=call.attrs["type"].np)
    return _transposed(m, call.attrs["conjugate"]).held


def _turned(call: Call, m: CsrMatrix, side: str) -> CsrMatrix:
    flip, adjoint = call.attrs[f"transpose_{side}"], call.attrs[f"adjoint_{side}"]
    call.require(
        not (flip and adjoint), "a side is transposed or its adjoint taken, not both", found=side
    )
    return _transposed(m, adjoint) if flip or adjoint else m


def _check_product(call: Call, a: Sequence[int], b: Sequence[int]) -> None:
    call.require(
        len(a) == len(b) and a[:-2] == b[:-2] and a[-1] == b[-2],
        "the sides of a product must fit",
        found=f"{list(a)} times {list(b)}",
        needed="[..., m, k] times [..., k, n]",
    )


@kernel("SparseMatrixMatMul")
@quiet
def sparse_dense(call: Call, value: Array, b: Array) -> Array:
    """A sparse matrix times a dense one; TF ``SparseMatrixMatMul``."""
    attrs = call.attrs
    m = _turned(call, _matrix(call, value, dtype=b.dtype), "a")
    call.require(b.ndim in (2, 3), "b must have rank 2 or 3", found=list(b.shape))
    call.require(
        not (attrs["transpose_b"] and attrs["adjoint_b"]),
        "a side is transposed or its adjoint taken, not both",
        found="b",
    )
    if attrs["transpose_b"] or attrs["adjoint_b"]:
        b = b.swapaxes(-1, -2)
        b = np.conj(b) if attrs["adjoint_b"] else b
    _check_product(call, m.shape, b.shape)
    shape = check_size(call, (*m.shape[:-1], b.shape[-1]), b.dtype)
    out = np.zeros((len(m.parts), *shape[-2:]), b.dtype)
    for total, part, dense in zip(out, m.parts, b.reshape(-1, *b.shape[-2:]), strict=True):
        np.add.at(total, part.rows(), part.values[:, None] * dense[part.columns])
    out = out.reshape(shape)
    out = out.swapaxes(-1, -2) if attrs["transpose_output"] else out
    return np.asarray(np.conj(out) if attrs["conjugate_output"] else out)


@kernel("SparseMatrixSparseMatMul")
@quiet
def sparse_sparse(call: Call, left: Array, right: Array) -> Array:
    """The sparse product of sparse matrices; TF ``SparseMatrixSparseMatMul``."""
    dtype = call.attrs["type"].np
    a = _turned(call, _matrix(call, left, "a", dtype), "a")
    b = _turned(call, _matrix(call, right, "b", dtype), "b")
    _check_product(call, a.shape, b.shape)
    parts = tuple(_product(p, q, b.shape[-1]) for p, q in zip(a.parts, b.parts, strict=True))
    return CsrMatrix((*a.shape[:-1], b.shape[-1]), a.dtype, parts).held


def _product(a: _Part, b: _Part, width: int) -> _Part:
    """Every element of ``a`` meets the row of ``b`` that its column names; equal places add up."""
    counts = np.diff(b.starts)[a.columns]
    owner = np.repeat(np.arange(a.columns.size), counts)
    inner = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
    place = b.starts[a.columns[owner]] + inner
    flat = a.rows()[owner].astype(np.int64) * width + b.columns[place]
    unique, back = np.unique(flat, return_inverse=True)
    values = np.zeros(unique.size, a.values.dtype)
    np.add.at(values, back, a.values[owner] * b.values[place])
    return _part(unique // max(width, 1), unique % max(width, 1), values, a.starts.size - 1)


@kernel("SparseMatrixOrderingAMD")
def ordering(call: Call, value: Array) -> Array:
    """An order of rows and columns in which a Cholesky factor fills up little.

    The row with the fewest neighbours comes next, the first of equal ones; TensorFlow's order by
    approximate degrees may be another. TF ``SparseMatrixOrderingAMD``.
    """
    m = _matrix(call, value)
    _check_square(call, m)
    orders = np.stack([_least_degree(p) for p in m.parts]).astype(np.int32)
    return orders.reshape(m.shape[:-1])


def _least_degree(part: _Part) -> Array:
    size = part.starts.size - 1
    near: list[set[int]] = [set() for _ in range(size)]
    for i, j in zip(part.rows().tolist(), part.columns.tolist(), strict=True):
        if i != j:
            near[i].add(j)
            near[j].add(i)
    left, out = set(range(size)), []
    while left:
        best = min(left, key=lambda k: (len(near[k]), k))
        left.remove(best)
        out.append(best)
        for k in near[best]:
            near[k] |= near[best] - {k}
            near[k].discard(best)
    return np.array(out, np.int64)


def _check_square(call: Call, m: CsrMatrix) -> None:
    call.require(
        m.shape[-1] == m.shape[-2], "the matrix must be square", found=list(m.shape),
        needed="[..., n, n]",
    )  # fmt: skip


@kernel("SparseMatrixSparseCholesky")
@quiet
def sparse_cholesky(call: Call, value: Array, permutation: Array) -> Array:
    """The lower factor of the matrix in the given order; TF ``SparseMatrixSparseCholesky``.

    Only the lower triangle is read.
    """
    m = _matrix(call, value, dtype=call.attrs["type"].np)
    _check_square(call, m)
    call.require(
        permutation.shape == m.shape[:-1]
        and bool((np.sort(permutation, -1) == np.arange(m.shape[-1])).all()),
        "permutation must name each row once",
        found=permutation.ravel()[:8].tolist(),
        needed=f"the numbers below {m.shape[-1]}",
    )
    orders = permutation.reshape(len(m.parts), -1)
    matrices = m.dense().reshape(len(m.parts), *m.shape[-2:])
    parts = tuple(
        _factor(call, a, p, order) for a, p, order in zip(matrices, m.parts, orders, strict=True)
    )
    return CsrMatrix(m.shape, m.dtype, parts).held


def _factor(call: Call, dense: Array, part: _Part, order: Array) -> _Part:
    lower = np.tril(dense)
    whole = (lower + np.conj(np.tril(dense, -1)).T)[np.ix_(order, order)]
    try:
        factor = np.linalg.cholesky(whole)
    except np.linalg.LinAlgError as error:
        call.fail(
            "the matrix must be positive definite", found=str(error), needed="x^H A x > 0",
            inner=error,
        )  # fmt: skip
    filled = np.zeros(dense.shape, bool)
    filled[part.rows(), part.columns] = True
    filled = np.tril((filled | filled.T)[np.ix_(order, order)])
    for k in range(len(filled)):
        below = filled[:, k] & (np.arange(len(filled)) > k)
        filled |= np.tril(np.outer(below, below))
    rows, columns = np.nonzero(filled | np.eye(len(filled), dtype=bool))
    return _part(rows, columns, factor[rows, columns], len(filled))
