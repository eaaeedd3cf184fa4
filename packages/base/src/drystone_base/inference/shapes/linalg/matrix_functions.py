"""Shapes of functions of matrices, tridiagonal systems and sparse matrices in rows."""

from __future__ import annotations

from drystone_base.core.dtypes import DType
from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape("MatrixExponential", "MatrixLogarithm", "MatrixSquareRoot")
def square(c: ShapeCall) -> list[Shape]:
    """The input's shape, its last two dimensions merged."""
    given = c.with_rank_at_least(c.shape(0), 2)
    if given is None:
        return [None]
    side = c.merge_dim(given[-1], given[-2])
    return [(*given[:-2], side, side)]


@shape("TridiagonalSolve")
def tridiagonal_solve(c: ShapeCall) -> list[Shape]:
    """The right side's shape."""
    diagonals, rhs = (c.with_rank_at_least(c.shape(k), 2) for k in (0, 1))
    if diagonals is not None and rhs is not None:
        if len(diagonals) != len(rhs):
            c.fail("ranks must be equal", found=f"{list(diagonals)} and {list(rhs)}")
        c.merge(diagonals[:-2], rhs[:-2])
        c.merge_dim(diagonals[-2], 3)
        c.merge_dim(diagonals[-1], rhs[-2])
    return [rhs]


@shape("TridiagonalMatMul")
def tridiagonal_matmul(c: ShapeCall) -> list[Shape]:
    """The right side's shape."""
    rhs = c.with_rank_at_least(c.shape(3), 2)
    for k in range(3):
        given = c.with_rank_at_least(c.shape(k), 2)
        if given is not None:
            c.merge_dim(given[-2], 1)
        if given is not None and rhs is not None:
            if len(given) != len(rhs):
                c.fail("ranks must be equal", found=f"{list(given)} and {list(rhs)}")
            c.merge(given[:-2], rhs[:-2])
            c.merge_dim(given[-1], rhs[-2])
    return [rhs]


def _held(c: ShapeCall, index: int) -> Shape:
    """The shape of the matrix that a variant holds, where it is known."""
    c.with_rank(c.shape(index), 0)
    handle = c.handles[index]
    return None if handle is None else handle[1]


def _made(c: ShapeCall, dtype: DType, inner: Shape) -> list[Shape]:
    c.output_handles = [(dtype, inner)]
    return [()]


def _checked(c: ShapeCall, given: Shape) -> Shape:
    if given is not None and len(given) not in (2, 3):
        c.fail("a sparse matrix must have rank 2 or 3", found=list(given), needed="2 or 3")
    return given


@shape("SparseTensorToCSRSparseMatrix")
def from_sparse(c: ShapeCall) -> list[Shape]:
    """A scalar variant that holds a matrix of the given shape."""
    return _made(c, c.attrs["T"], _checked(c, c.value_as_shape(2)))


@shape("DenseToCSRSparseMatrix")
def from_dense(c: ShapeCall) -> list[Shape]:
    """A scalar variant that holds a matrix of the input's shape."""
    return _made(c, c.attrs["T"], _checked(c, c.shape(0)))


@shape("CSRSparseMatrixToDense")
def to_dense(c: ShapeCall) -> list[Shape]:
    """The matrix's shape."""
    return [_held(c, 0)]


@shape("CSRSparseMatrixToSparseTensor")
def to_sparse(c: ShapeCall) -> list[Shape]:
    """As many indices as values."""
    given = _held(c, 0)
    rank = UNKNOWN if given is None else len(given)
    return [(UNKNOWN, rank), (UNKNOWN,), (rank,)]


@shape("CSRSparseMatrixComponents")
def components(c: ShapeCall) -> list[Shape]:
    """Row starts, columns and values: vectors."""
    given = _held(c, 0)
    c.with_rank(c.shape(1), 0)
    rows = given[-2] + 1 if given is not None and given[-2] >= 0 else UNKNOWN
    return [(rows,), (UNKNOWN,), (UNKNOWN,)]


@shape("SparseMatrixNNZ")
def count_elements(c: ShapeCall) -> list[Shape]:
    """A number for each matrix of a batch."""
    given = _held(c, 0)
    return [None if given is None else given[:-2]]


@shape("SparseMatrixOrderingAMD")
def ordering(c: ShapeCall) -> list[Shape]:
    """The shape without columns."""
    given = _held(c, 0)
    return [None if given is None else given[:-1]]


def _flipped(given: Shape, flip: bool) -> Shape:
    if given is None or not flip:
        return given
    return (*given[:-2], given[-1], given[-2])


@shape("SparseMatrixTranspose")
def transposed(c: ShapeCall) -> list[Shape]:
    """A variant of the transposed shape."""
    return _made(c, c.attrs["type"], _flipped(_held(c, 0), True))


@shape("SparseMatrixSparseCholesky")
def cholesky(c: ShapeCall) -> list[Shape]:
    """A variant of the matrix's shape."""
    return _made(c, c.attrs["type"], _held(c, 0))


def _product(c: ShapeCall, b: Shape) -> Shape:
    for side in ("a", "b"):
        if c.attrs[f"transpose_{side}"] and c.attrs[f"adjoint_{side}"]:
            c.fail("a side is transposed or its adjoint taken, not both", found=side)
    a = _flipped(_held(c, 0), c.attrs["transpose_a"] or c.attrs["adjoint_a"])
    b = _flipped(b, c.attrs["transpose_b"] or c.attrs["adjoint_b"])
    if a is None or b is None:
        return None
    if len(a) != len(b):
        c.fail("ranks must be equal", found=f"{list(a)} and {list(b)}", needed="equal ranks")
    c.merge_dim(a[-1], b[-2])
    lead = c.merge(a[:-2], b[:-2])
    return None if lead is None else (*lead, a[-2], b[-1])


@shape("SparseMatrixMatMul")
def sparse_dense(c: ShapeCall) -> list[Shape]:
    """The product's shape, transposed if asked for."""
    return [_flipped(_product(c, _checked(c, c.shape(1))), c.attrs["transpose_output"])]


@shape("SparseMatrixSparseMatMul")
def sparse_sparse(c: ShapeCall) -> list[Shape]:
    """A variant of the product's shape."""
    return _made(c, c.attrs["type"], _product(c, _held(c, 1)))
