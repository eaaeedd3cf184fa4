"""Decompositions, inverses and solvers. Source: TensorFlow ``linalg_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule, summed_to
from drystone_base.autodiff.backward import NoGradient
from drystone_base.core.dtypes import INT32, INT64
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


def _times(b: Builder, x: Output, y: Output, *, left: bool = False, right: bool = False) -> Output:
    return b("BatchMatMulV2", x, y, adj_x=left, adj_y=right)


@rule("MatrixInverse")
def _inverse(b: Builder, node: Node, grads: list[Any]) -> Grads:
    y, g = (node, 0), grads[0]
    if node.attr("adjoint"):
        return [b("Neg", _times(b, y, _times(b, g, y, left=True)))]
    return [b("Neg", _times(b, y, _times(b, g, y, right=True), left=True))]


@rule("MatrixDeterminant")
def _determinant(b: Builder, node: Node, grads: list[Any]) -> Grads:
    inverse = b("MatrixInverse", node.inputs[0], adjoint=True)
    return [b("Mul", _as_matrix(b, b("Mul", grads[0], (node, 0))), inverse)]


@rule("LogMatrixDeterminant")
def _log_determinant(b: Builder, node: Node, grads: list[Any]) -> Grads:
    inverse = b("MatrixInverse", node.inputs[0], adjoint=True)
    return [b("Mul", _as_matrix(b, grads[1]), inverse)]


def _as_matrix(b: Builder, x: Output) -> Output:
    last = b.const(-1, INT64)
    return b("ExpandDims", b("ExpandDims", x, last), last)


@rule("MatrixSolve")
def _solve(b: Builder, node: Node, grads: list[Any]) -> Grads:
    matrix = node.inputs[0]
    adjoint = node.attr("adjoint")
    by_right = b("MatrixSolve", matrix, grads[0], adjoint=not adjoint)
    pair = ((node, 0), by_right) if adjoint else (by_right, (node, 0))
    return [b("Neg", _times(b, *pair, right=True)), by_right]


@rule("MatrixTriangularSolve")
def _triangular_solve(b: Builder, node: Node, grads: list[Any]) -> Grads:
    matrix, right = node.inputs
    adjoint, lower = node.attr("adjoint"), node.attr("lower")
    by_right = b("MatrixTriangularSolve", matrix, grads[0], lower=lower, adjoint=not adjoint)
    pair = ((node, 0), by_right) if adjoint else (by_right, (node, 0))
    by_matrix = b("Neg", _times(b, *pair, right=True))
    none, every = b.const(0, INT64), b.const(-1, INT64)
    band = (every, none) if lower else (none, every)
    found = [b("MatrixBandPart", by_matrix, *band), by_right]
    return [summed_to(b, g, v, g) for g, v in zip(found, (matrix, right), strict=True)]


@rule("Cholesky")
def _cholesky(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """L⁻ᵀ Φ(Lᵀ g) L⁻¹, symmetric, where Φ is the lower half with half of the diagonal."""
    factor = (node, 0)
    inner = _times(b, factor, grads[0], left=True)
    diagonal = b("Mul", b("MatrixDiagPart", inner), b.like(0.5, inner))
    half = b("MatrixSetDiag", inner, diagonal)
    lower = b("MatrixBandPart", half, b.const(-1, INT64), b.const(0, INT64))
    left = b("MatrixTriangularSolve", factor, lower, lower=True, adjoint=True)
    turned = b("MatrixTriangularSolve", factor, _turned(b, left), lower=True, adjoint=True)
    return [b("Mul", b("AddV2", turned, _turned(b, turned)), b.like(0.5, inner))]


def _turned(b: Builder, x: Output) -> Output:
    """The matrices transposed: times an identity, whatever the batch."""
    ones = b("MatrixDiag", b("OnesLike", b("MatrixDiagPart", x)))
    return _times(b, x, ones, left=True)


@rule("MatrixSolveLs")
def _least_squares(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of x = A⁺ b: b has w = A⁺ᵀ g, A has (b - A x) zᵀ + y (g - Aᵀ w)ᵀ - w xᵀ.

    There z = A⁺ w and y = A⁺ᵀ x. With a regularizer λ both products are one, of rests by λ.
    """
    matrix, right, weight = node.inputs
    if not node.full_attrs()["fast"] or b.dtype(matrix).is_complex:
        raise NoGradient(node, "", "fast=False, or complex matrices")
    x, g, turned = (node, 0), grads[0], _turned_by_axes(b, matrix)

    def solved(a: Output, rest: Output) -> Output:
        return b("MatrixSolveLs", a, rest, weight, fast=True)

    w = solved(turned, g)
    left, rest = b("Sub", right, _times(b, matrix, x)), b("Sub", g, _times(b, turned, w))
    scale = b("Cast", weight, DstT=b.dtype(matrix))
    given = b("Greater", scale, b.like(0, scale))
    one = b.like(1, scale)
    by = b("SelectV2", given, scale, one)
    z = b("SelectV2", given, b("RealDiv", rest, by), solved(matrix, w))
    y = b("SelectV2", given, b("RealDiv", left, by), solved(turned, x))
    both = b("AddV2", _times(b, left, z, right=True), _times(b, y, rest, right=True))
    share = b("Mul", both, b("SelectV2", given, b.like(0.5, scale), one))
    return [b("Sub", share, _times(b, w, x, right=True)), w, None]


def _turned_by_axes(b: Builder, x: Output) -> Output:
    """The matrices transposed, whatever their sizes."""
    rank, one, two = b("Rank", x), b.const(1, INT32), b.const(2, INT32)
    batch = b("Range", b.const(0, INT32), b("Sub", rank, two), one)
    last = b("Sub", b("Pack", [rank, rank], axis=0), b.const([1, 2], INT32))
    return b("Transpose", x, b("ConcatV2", [batch, last], b.const(0, INT32)))
