"""Decompositions into factors. Source: TensorFlow ``linalg_grad.py``; Townsend 2016; Seeger 2017.

Factors of real matrices alone: those of complex ones are defined up to a phase, which a result may
depend on. Those of ``Eig`` are complex whatever the matrix is: its gradient is that of results that
do not depend on phases.
"""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.autodiff.backward import NoGradient
from drystone_base.core.dtypes import COMPLEX128, FLOAT32, FLOAT64, INT32, INT64, DType
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


def _times(b: Builder, x: Output, y: Output, *, left: bool = False, right: bool = False) -> Output:
    return b("BatchMatMulV2", x, y, adj_x=left, adj_y=right)


def _expanded(b: Builder, x: Output, axis: int) -> Output:
    return b("ExpandDims", x, b.const(axis, INT32))


def _by_columns(b: Builder, matrix: Output, row: Output) -> Output:
    """A matrix times a diagonal one, whose diagonal is ``row``."""
    return b("Mul", matrix, _expanded(b, row, -2))


def _part(b: Builder, x: Output, below: int, above: int) -> Output:
    return b("MatrixBandPart", x, b.const(below, INT64), b.const(above, INT64))


def _turned(b: Builder, x: Output) -> Output:
    """The matrices transposed, whatever the batch."""
    rank, two = b("Rank", x), b.const(2, INT32)
    batch = b("Range", b.const(0, INT32), b("Sub", rank, two), b.const(1, INT32))
    last = [_expanded(b, b("Sub", rank, b.const(k, INT32)), 0) for k in (1, 2)]
    return b("Transpose", x, b("ConcatV2", [batch, *last], b.const(0, INT32)))


def _gaps(b: Builder, values: Output) -> Output:
    """1 / (v_j - v_i); 0 where two are equal, as on the diagonal."""
    gaps = b("Sub", _expanded(b, values, -2), _expanded(b, values, -1))
    return b("DivNoNan", b("OnesLike", gaps), gaps)


# ---- eigenvalues --------------------------------------------------------------------------------


@rule("SelfAdjointEigV2")
def _eigen(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if node.full_attrs()["compute_v"]:
        return [_of_eigen(b, (node, 0), (node, 1), grads[0], grads[1])]
    again = b.node("SelfAdjointEigV2", node.inputs[0], compute_v=True)
    return [_of_eigen(b, (again, 0), (again, 1), grads[0], None)]


@rule("SelfAdjointEig")
def _old_eigen(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Values are the first row of the result, vectors the others."""

    def values(x: Output) -> Output:
        bounds = [b.const([0, k, 0], INT32) for k in (0, 1)]
        return b("StridedSlice", x, *bounds, b.const([1, 1, 1], INT32), ellipsis_mask=1,
                 begin_mask=4, end_mask=4, shrink_axis_mask=2)  # fmt: skip

    def vectors(x: Output) -> Output:
        bounds = [b.const([0, k, 0], INT32) for k in (1, 0)]
        return b("StridedSlice", x, *bounds, b.const([1, 1, 1], INT32), ellipsis_mask=1,
                 begin_mask=4, end_mask=6)  # fmt: skip

    y, g = (node, 0), grads[0]
    return [_of_eigen(b, values(y), vectors(y), values(g), vectors(g))]


def _of_eigen(b: Builder, w: Output, v: Output, gw: Output, gv: Output | None) -> Output:
    """V (diag(g_w) + F ∘ Vᵀ g_v) Vᵀ, of which the lower triangle is what the op reads."""
    inner = b("MatrixDiag", gw)
    if gv is not None:
        inner = b("AddV2", inner, b("Mul", _gaps(b, w), _times(b, v, gv, left=True)))
    full = _times(b, v, _times(b, inner, v, right=True))
    both = _part(b, b("AddV2", full, _turned(b, full)), -1, 0)
    return b("MatrixSetDiag", both, b("MatrixDiagPart", full))


@rule("Eig")
def _any_eigen(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """V⁻ᴴ (diag(g_w) + F ∘ (Vᴴ g_v - Vᴴ V diag(Re Vᴴ g_v))) Vᴴ: vectors are of length one."""
    x, gw, gv = node.inputs[0], *grads
    if not node.full_attrs()["compute_v"]:
        node, gv = b.node("Eig", x, compute_v=True, Tout=b.dtype((node, 0))), None
    w, v = (node, 0), (node, 1)
    inner = b("MatrixDiag", gw)
    if gv is not None:
        along = _times(b, v, gv, left=True)
        real = b("Real", b("MatrixDiagPart", along), Tout=_real_of(b, v))
        lengths = _by_columns(b, _times(b, v, v, left=True), b("Cast", real, DstT=b.dtype(v)))
        turned = b("Mul", b("Conj", _gaps(b, w)), b("Sub", along, lengths))
        inner = b("AddV2", inner, turned)
    found = b("MatrixSolve", v, _times(b, inner, v, right=True), adjoint=True)
    return [found if b.dtype(x).is_complex else b("Cast", b("Real", found, Tout=_real_of(b, v)),
                                                  DstT=b.dtype(x))]  # fmt: skip


def _real_of(b: Builder, x: Output) -> DType:
    return FLOAT64 if b.dtype(x) is COMPLEX128 else FLOAT32


# ---- orthogonal and triangular ------------------------------------------------------------------


@rule("Qr")
def _qr(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of as many columns as there are rows; those behind them are Q times theirs in R."""
    if node.full_attrs()["full_matrices"]:
        raise NoGradient(node, "", "full_matrices=True: columns of Q that the matrix does not fix")
    x, (q, r), (gq, gr) = node.inputs[0], ((node, 0), (node, 1)), grads
    bounds = [b.const([k], INT32) for k in (-1, 0, 1)]
    count = b("StridedSlice", b.shape(q), *bounds, end_mask=1, shrink_axis_mask=1)  # columns of Q

    def split(y: Output) -> tuple[Output, Output]:
        return _columns(b, y, None, count), _columns(b, y, count, None)

    _, rest = split(x)
    (square, _), (of_square, of_rest) = split(r), split(gr)
    more = b("AddV2", gq, _times(b, rest, of_rest, right=True))
    first = _of_square_qr(b, q, square, more, of_square)
    return [b("ConcatV2", [first, _times(b, q, of_rest)], b.const(-1, INT32))]


def _columns(b: Builder, x: Output, start: Output | None, end: Output | None) -> Output:
    """The last dimension from ``start`` to ``end``."""
    none = b.const([0], INT32)
    first, last = (none if k is None else _expanded(b, k, 0) for k in (start, end))
    zero = b.const(0, INT32)
    bounds = [b("ConcatV2", [none, k], zero) for k in (first, last)]
    return b("StridedSlice", x, *bounds, b.const([1, 1], INT32), ellipsis_mask=1,
             begin_mask=2 * (start is None), end_mask=2 * (end is None))  # fmt: skip


def _of_square_qr(b: Builder, q: Output, r: Output, gq: Output, gr: Output) -> Output:
    inner, outer = _times(b, q, gq, left=True), _times(b, r, gr, right=True)
    skew = b("AddV2", b("Sub", inner, _turned(b, inner)), b("Sub", outer, _turned(b, outer)))
    lower = b("Sub", _part(b, skew, -1, 0), _part(b, skew, 0, 0))
    within = _times(b, q, b("AddV2", gr, _by_triangle(b, lower, r)))
    return b("AddV2", within, _by_triangle(b, b("Sub", gq, _times(b, q, inner)), r))


def _by_triangle(b: Builder, x: Output, r: Output) -> Output:
    """X R⁻ᵀ."""
    return _turned(b, b("MatrixTriangularSolve", r, _turned(b, x), lower=False, adjoint=False))


# ---- singular values ----------------------------------------------------------------------------


@rule("Svd")
def _svd(b: Builder, node: Node, grads: list[Any]) -> Grads:
    full = node.full_attrs()
    if not full["compute_uv"]:
        again = b.node("Svd", node.inputs[0], compute_uv=True, full_matrices=False)
        u, v = (again, 1), (again, 2)
        return [_times(b, _by_columns(b, u, grads[0]), v, right=True)]
    if full["full_matrices"]:
        raise NoGradient(node, "", "full_matrices=True: vectors that the matrix does not fix")
    return [_of_svd(b, ((node, 0), (node, 1), (node, 2)), grads)]


def _of_svd(b: Builder, factors: tuple[Output, Output, Output], grads: list[Any]) -> Output:
    """U (F ∘ skew(Uᵀ g_u) S + S F ∘ skew(Vᵀ g_v) + diag(g_s)) Vᵀ, and what leaves their spans."""
    (s, u, v), (gs, gu, gv) = factors, grads
    gaps = _gaps(b, b("Square", s))

    def turned(y: Output, g: Output) -> Output:
        inner = _times(b, y, g, left=True)
        return b("Mul", gaps, b("Sub", inner, _turned(b, inner)))

    def leaving(y: Output, g: Output) -> Output:
        """What of g is not in the span of y, by the singular values."""
        beyond = b("Sub", g, _times(b, y, _times(b, y, g, left=True)))
        return b("DivNoNan", beyond, _expanded(b, s, -2))

    of_u = _by_columns(b, turned(u, gu), s)
    of_v = b("Mul", _expanded(b, s, -1), turned(v, gv))
    inner = b("AddV2", b("AddV2", of_u, of_v), b("MatrixDiag", gs))
    within = _times(b, _times(b, u, inner), v, right=True)
    left, right = _times(b, leaving(u, gu), v, right=True), _times(b, u, leaving(v, gv), right=True)
    return b("AddV2", within, b("AddV2", left, right))


# ---- triangular factors, and roots ---------------------------------------------------------------


@rule("Lu")
def _lu(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """L⁻ᵀ (lower(Lᵀ g_l) + upper(g_u Uᵀ)) U⁻ᵀ, its rows where the matrix had them."""
    factors, order, g = (node, 0), (node, 1), grads[0]
    diagonal = b("MatrixDiagPart", factors)
    unit = b("MatrixSetDiag", factors, b("OnesLike", diagonal))
    lower, upper = _part(b, unit, -1, 0), _part(b, factors, 0, -1)
    of_upper = _part(b, g, 0, -1)
    by_lower = _part(b, _times(b, lower, b("Sub", g, of_upper), left=True), -1, 0)
    strict = b("MatrixSetDiag", by_lower, b("ZerosLike", diagonal))
    inner = b("AddV2", strict, _part(b, _times(b, of_upper, upper, right=True), 0, -1))
    left = b("MatrixTriangularSolve", lower, inner, lower=True, adjoint=True)
    bounds = [b.const([k], INT32) for k in (-1, 0, 1)]
    size = b("StridedSlice", b.shape(diagonal), *bounds, end_mask=1, shrink_axis_mask=1)
    return [_times(b, _one_hot(b, order, size, g), _by_triangle(b, left, upper), left=True)]


def _one_hot(b: Builder, places: Output, size: Output, like: Output) -> Output:
    return b("OneHot", places, size, b.like(1, like), b.like(0, like))


@rule("MatrixSquareRoot")
def _square_root(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """The solution of Yᴴ x + x Yᴴ = g, of all elements of x in a row."""
    root, g = (node, 0), grads[0]
    if b.dtype(root).is_complex:
        root = b("Conj", root)
    ones = b("MatrixDiag", b("OnesLike", b("MatrixDiagPart", root)))
    both = b("AddV2", b("Einsum", [root, ones], equation="...ca,...bd->...abcd"),
             b("Einsum", [ones, root], equation="...ac,...bd->...abcd"))  # fmt: skip
    batch, size = _sizes(b, root)
    square = b("Mul", size, size)
    zero, one = b.const(0, INT32), b.const([1], INT32)
    matrix = b("Reshape", both, b("ConcatV2", [batch, square, square], zero))
    column = b("Reshape", g, b("ConcatV2", [batch, square, one], zero))
    return [b("Reshape", b("MatrixSolve", matrix, column), b.shape(g))]


def _sizes(b: Builder, x: Output) -> tuple[Output, Output]:
    """The sizes of the batch, and the last one, as vectors."""
    bounds = [b.const([k], INT32) for k in (0, -2, 1)]
    last = [b.const([k], INT32) for k in (-1, 0, 1)]
    batch = b("StridedSlice", b.shape(x), *bounds, begin_mask=1)
    return batch, b("StridedSlice", b.shape(x), *last, end_mask=1)
