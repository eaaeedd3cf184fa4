"""Matrices of three diagonals, and of some. Source: TensorFlow ``linalg_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule, summed_to
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("TridiagonalMatMul")
def _product(b: Builder, node: Node, grads: list[Any]) -> Grads:
    above, main, below, x = node.inputs
    g = grads[0]
    by_x = b("TridiagonalMatMul", *_turned(b, above, main, below), g)
    return [*_diagonals(b, g, x), by_x]


@rule("TridiagonalSolve")
def _solve(b: Builder, node: Node, grads: list[Any]) -> Grads:
    full = node.full_attrs()
    attrs = {k: full[k] for k in ("partial_pivoting", "perturb_singular")}
    above, main, below = (_rows(b, node.inputs[0], k, k + 1) for k in range(3))
    turned = b("ConcatV2", list(_turned(b, above, main, below)), b.const(-2, INT32))
    by_right = b("TridiagonalSolve", turned, grads[0], **attrs)
    found = b("ConcatV2", _diagonals(b, by_right, (node, 0)), b.const(-2, INT32))
    return [b("Neg", found), by_right]


def _turned(
    b: Builder, above: Output, main: Output, below: Output
) -> tuple[Output, Output, Output]:
    """The diagonals of the transposed matrix; what moves round the ends is not read."""
    last = b.const([-1], INT32)
    first, second = (b("Roll", x, b.const([k], INT32), last) for x, k in ((below, -1), (above, 1)))
    return first, main, second


def _diagonals(b: Builder, y: Output, x: Output) -> list[Output]:
    """The three diagonals of y xᵀ, as rows; 0 where they leave the matrix."""
    ahead = _by_rows(b, _rows(b, y, 0, -1), _rows(b, x, 1, None))
    behind = _by_rows(b, _rows(b, y, 1, None), _rows(b, x, 0, -1))
    main, axis = _by_rows(b, y, x), b.const(-1, INT32)
    corner = b("ZerosLike", _by_rows(b, _rows(b, y, 0, 1), _rows(b, x, 0, 1)))
    return [b("ConcatV2", [ahead, corner], axis), main, b("ConcatV2", [corner, behind], axis)]


def _by_rows(b: Builder, y: Output, x: Output) -> Output:
    products = b("Sum", b("Mul", y, x), b.const(-1, INT32), keep_dims=False)
    return b("ExpandDims", products, b.const(-2, INT32))


def _rows(b: Builder, x: Output, start: int, end: int | None) -> Output:
    """The last dimension but one from ``start`` to ``end``."""
    bounds = [b.const([0, k, 0], INT32) for k in (start, end or 0)]
    return b("StridedSlice", x, *bounds, b.const([1, 1, 1], INT32), ellipsis_mask=1, begin_mask=4,
             end_mask=4 + 2 * (end is None))  # fmt: skip


@rule("BandedTriangularSolve")
def _banded(b: Builder, node: Node, grads: list[Any]) -> Grads:
    bands, right = node.inputs
    full = node.full_attrs()
    lower, adjoint = full["lower"], full["adjoint"]
    by_right = b("BandedTriangularSolve", bands, grads[0], lower=lower, adjoint=not adjoint)
    pair = ((node, 0), by_right) if adjoint else (by_right, (node, 0))
    whole = b("Neg", b("BatchMatMulV2", *pair, adj_y=True))
    size = b("StridedSlice", b.shape(bands), *(b.const([k], INT32) for k in (-2, -1, 1)),
             shrink_axis_mask=1)  # fmt: skip
    beyond, zero = b("Sub", size, b.const(1, INT32)), b.const(0, INT32)
    ends = [b("Neg", beyond), zero] if lower else [zero, beyond]
    by_bands = b("MatrixDiagPartV3", whole, b("Pack", ends, axis=0), b.like(0, whole),
                 align="LEFT_RIGHT")  # fmt: skip
    return [summed_to(b, by_bands, bands, by_bands), summed_to(b, by_right, right, by_right)]
