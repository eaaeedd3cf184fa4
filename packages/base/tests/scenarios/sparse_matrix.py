"""Sparse matrices in rows: made, taken apart, multiplied, factorized."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from exact import gram

from drystone_base.graph import Node
from scenarios import Program, scenario

KINDS = ["float32", "float64", "complex64", "complex128"]


def drawn(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Any:
    """Small numbers, about half of them 0."""
    x = rng.integers(-4, 5, shape) * rng.integers(0, 2, shape)
    imaginary = rng.integers(-3, 4, shape) * (x != 0) if dtype.startswith("complex") else 0
    return np.asarray(x + 1j * imaginary if dtype.startswith("complex") else x).astype(dtype)


def made(p: Program, x: Any) -> Node:
    """The matrix of the elements of ``x`` that are not 0."""
    return p("DenseToCSRSparseMatrix", x, np.argwhere(x != 0))


def kind_of(rng: np.random.Generator) -> str:
    """One of the types."""
    return KINDS[int(rng.integers(4))]


def size(rng: np.random.Generator) -> tuple[int, ...]:
    """Rows and columns, half of the time below a batch."""
    rows, columns = (int(n) for n in rng.integers(1, 6, 2))
    return (int(rng.integers(1, 4)), rows, columns) if rng.integers(2) else (rows, columns)


@scenario(draws=12)
def there_and_back(p: Program, rng: np.random.Generator) -> None:
    dtype, shape = kind_of(rng), size(rng)
    x = drawn(rng, dtype, shape)
    places = np.argwhere(x != 0)
    m = made(p, x)
    other = p("SparseTensorToCSRSparseMatrix", places, x[x != 0], np.array(shape, np.int64))
    for one in (m, other):
        p.step(p("CSRSparseMatrixToDense", one, type=dtype))
        parts = p("CSRSparseMatrixToSparseTensor", one, type=dtype)
        p.step(*((parts, k) for k in range(3)))
        p.step(p("SparseMatrixNNZ", one))
    for index in (0, shape[0] - 1 if len(shape) == 3 else 0, 9):
        parts = p("CSRSparseMatrixComponents", m, np.int32(index), type=dtype)
        p.step(*((parts, k) for k in range(3)))
    turned = p("SparseMatrixTranspose", m, conjugate=bool(rng.integers(2)), type=dtype)
    parts = p("CSRSparseMatrixComponents", turned, np.int32(0), type=dtype)
    p.step(*((parts, k) for k in range(3)))


@scenario(draws=16)
def products(p: Program, rng: np.random.Generator) -> None:
    dtype = kind_of(rng)
    lead = (2,) if rng.integers(2) else ()
    m, k, n = (int(v) for v in rng.integers(1, 5, 3))
    flips: dict[str, Any] = {
        f"{how}_{side}": False for how in ("transpose", "adjoint") for side in ("a", "b")
    }
    shapes = {"a": (m, k), "b": (k, n)}
    for side in ("a", "b"):
        how = ("", "transpose", "adjoint")[int(rng.integers(3))]
        if how:
            flips[f"{how}_{side}"] = True
            shapes[side] = shapes[side][::-1]
    a, b = (drawn(rng, dtype, (*lead, *shapes[side])) for side in ("a", "b"))
    after: dict[str, Any] = {
        "transpose_output": bool(rng.integers(2)),
        "conjugate_output": bool(rng.integers(2)),
    }
    p.step(p("SparseMatrixMatMul", made(p, a), b, **flips, **after))
    c = p("SparseMatrixSparseMatMul", made(p, a), made(p, b), type=dtype, **flips)
    p.step(p("CSRSparseMatrixToDense", c, type=dtype))


@scenario(draws=6, tol=100)
def factors(p: Program, rng: np.random.Generator) -> None:
    dtype, n = kind_of(rng), int(rng.integers(1, 6))
    x = drawn(rng, dtype, (n, n))
    even = gram(x) + n * np.eye(n)
    even = (even if dtype.startswith("complex") else even.real).astype(dtype)
    order = rng.permutation(n).astype(np.int32)
    factor = p("SparseMatrixSparseCholesky", made(p, even), order, type=dtype)
    p.step(p("CSRSparseMatrixToDense", factor, type=dtype))
    parts = p("CSRSparseMatrixComponents", factor, np.int32(0), type=dtype)
    p.step((parts, 0), (parts, 1))
    bad = p("SparseMatrixSparseCholesky", made(p, -even), order, type=dtype)
    p.step(p("CSRSparseMatrixToDense", bad, type=dtype))


@scenario()
def refused(p: Program) -> None:
    x = np.eye(3, dtype=np.float32)
    m = made(p, x)
    p.step(p("CSRSparseMatrixToDense", m, type="float64"))
    p.step(p("SparseMatrixMatMul", m, np.ones((3, 2), np.float64)))
    p.step(p("DenseToCSRSparseMatrix", x, np.array([[0, 5]])))
    outside = np.array([[0, 9]])
    one = np.ones(1, np.float32)
    p.step(p("SparseTensorToCSRSparseMatrix", outside, one, np.array([2, 2], np.int64)))


@scenario()
def turned_twice(p: Program) -> None:
    m = made(p, np.eye(3, dtype=np.float32))
    flips: dict[str, Any] = {"transpose_a": True, "adjoint_a": True}
    p.step(p("SparseMatrixMatMul", m, np.ones((3, 2), np.float32), **flips))
