"""Shapes of matrix decompositions and linear systems."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


def _split(
    c: ShapeCall, given: Shape, square: bool = True
) -> tuple[tuple[int, ...], int, int] | None:
    """Leading dims, rows and columns; None for unknown rank."""
    known = c.with_rank_at_least(given, 2)
    if known is None:
        return None
    rows, columns = known[-2:]
    if square:
        rows = columns = c.merge_dim(rows, columns)
    return known[:-2], rows, columns


@shape("Cholesky", "BatchCholesky", "MatrixInverse", "BatchMatrixInverse")
def square(c: ShapeCall) -> list[Shape]:
    """The input's shape, ``[..., n, n]``."""
    parts = _split(c, c.shape(0))
    return [None if parts is None else (*parts[0], parts[1], parts[2])]


@shape("CholeskyGrad", "BatchCholeskyGrad")
def cholesky_grad(c: ShapeCall) -> list[Shape]:
    """The shape that both inputs have."""
    parts = _split(c, c.merge(c.shape(0), c.shape(1)))
    return [None if parts is None else (*parts[0], parts[1], parts[2])]


@shape("MatrixDeterminant", "BatchMatrixDeterminant", "LogMatrixDeterminant")
def determinant(c: ShapeCall) -> list[Shape]:
    """``[..., n, n] -> [...]``."""
    parts = _split(c, c.shape(0))
    return [None if parts is None else parts[0]] * c.output_count


@shape("MatrixSolve", "MatrixTriangularSolve", "MatrixSolveLs")
@shape("BatchMatrixSolve", "BatchMatrixTriangularSolve", "BatchMatrixSolveLs")
def solve(c: ShapeCall) -> list[Shape]:
    """``[..., m, n]`` and ``[..., m, k]`` give ``[..., n, k]``."""
    matrix = _split(c, c.shape(0), square=not c.op.endswith("Ls"))
    rhs = _split(c, c.shape(1), square=False)
    if matrix is None or rhs is None:
        return [None]
    c.merge_dim(matrix[1], rhs[1])
    join = c.broadcast if "Triangular" in c.op else c.merge
    lead = join(matrix[0], rhs[0])
    return [None if lead is None else (*lead, matrix[2], rhs[2])]


def _least(rows: int, columns: int) -> int:
    if rows == 0 or columns == 0:
        return 0
    return min(rows, columns) if rows >= 0 and columns >= 0 else UNKNOWN


@shape("Qr")
def qr(c: ShapeCall) -> list[Shape]:
    """Q and R."""
    parts = _split(c, c.shape(0), square=False)
    if parts is None:
        return [None, None]
    lead, rows, columns = parts
    inner = rows if c.attrs["full_matrices"] else _least(rows, columns)
    return [(*lead, rows, inner), (*lead, inner, columns)]


@shape("Svd", "BatchSvd")
def svd(c: ShapeCall) -> list[Shape]:
    """Singular values, U and V; the latter are scalars when not computed."""
    parts = _split(c, c.shape(0), square=False)
    wanted = c.attrs["compute_uv"]
    if parts is None:
        return [None, None, None] if wanted else [None, (), ()]
    lead, rows, columns = parts
    least = _least(rows, columns)
    if not wanted:
        return [(*lead, least), (), ()]
    full = c.attrs["full_matrices"]
    left, right = (rows, columns) if full else (least, least)
    return [(*lead, least), (*lead, rows, left), (*lead, columns, right)]


@shape("SelfAdjointEig", "BatchSelfAdjointEig")
def eig_stacked(c: ShapeCall) -> list[Shape]:
    """``[..., n + 1, n]``."""
    parts = _split(c, c.shape(0))
    if parts is None:
        return [None]
    lead, size, _ = parts
    return [(*lead, size + 1 if size >= 0 else UNKNOWN, size)]


@shape("Lu")
def lu(c: ShapeCall) -> list[Shape]:
    """``[..., n, n]`` and ``[..., n]``."""
    parts = _split(c, c.shape(0))
    if parts is None:
        return [None, None]
    lead, size, _ = parts
    return [(*lead, size, size), (*lead, size)]


@shape("SelfAdjointEigV2", "BatchSelfAdjointEigV2", "Eig")
def eig(c: ShapeCall) -> list[Shape]:
    """Eigenvalues and vectors; the latter a scalar when not computed."""
    parts = _split(c, c.shape(0))
    wanted = c.attrs["compute_v"]
    if parts is None:
        return [None, None if wanted else ()]
    lead, size, _ = parts
    return [(*lead, size), (*lead, size, size) if wanted else ()]
