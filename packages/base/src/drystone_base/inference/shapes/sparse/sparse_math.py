"""Shapes of arithmetic and reductions on sparse tensors."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.sparse.sparse import sparse_rank

__all__: list[str] = []


@shape("SparseTensorDenseMatMul")
def sparse_dense_matmul(c: ShapeCall) -> list[Shape]:
    """Rows of the first factor by columns of the second."""
    a, b = c.with_rank(c.value_as_shape(2), 2), c.with_rank(c.shape(3), 2)
    rows, inner = (a[1], a[0]) if c.attrs["adjoint_a"] else a
    depth, columns = (b[1], b[0]) if c.attrs["adjoint_b"] else b
    c.merge_dim(inner, depth)
    return [(rows, columns)]


@shape("SparseTensorDenseAdd")
def sparse_dense_add(c: ShapeCall) -> list[Shape]:
    """The dense term's shape."""
    return [c.merge(c.shape(3), c.value_as_shape(2))]


@shape("SparseAdd", "SparseSparseMaximum", "SparseSparseMinimum")
def sparse_pair(c: ShapeCall) -> list[Shape]:
    """Unknown counts."""
    rank = c.merge_dim(sparse_rank(c, 0, 2), sparse_rank(c, 3, 5))
    out: list[Shape] = [(UNKNOWN, rank), (UNKNOWN,), (rank,)]
    return out[: c.output_count]


@shape("SparseAddGrad")
def sparse_add_grad(c: ShapeCall) -> list[Shape]:
    """One gradient for each element of the two terms."""
    return [(c.with_rank(c.shape(1), 2)[0],), (c.with_rank(c.shape(2), 2)[0],)]


@shape("SparseReduceSum", "SparseReduceMax")
def sparse_reduce(c: ShapeCall) -> list[Shape]:
    """The dense shape without the reduced axes."""
    dims, axes = c.value_as_shape(2), c.value(3)
    if dims is None or axes is None:
        return [None]
    if any(not -len(dims) <= int(a) < len(dims) for a in axes.reshape(-1)):
        c.fail("axes must be dimensions", found=axes.tolist(), needed=f"rank {len(dims)}")
    gone = {int(a) % len(dims) for a in axes.reshape(-1)}
    keep = c.attrs["keep_dims"]
    return [tuple(1 if k in gone else d for k, d in enumerate(dims) if keep or k not in gone)]


@shape("SparseReduceSumSparse", "SparseReduceMaxSparse")
def sparse_reduce_sparse(_: ShapeCall) -> list[Shape]:
    """Unknown counts and rank."""
    return [(UNKNOWN, UNKNOWN), (UNKNOWN,), (UNKNOWN,)]


@shape("SparseDenseCwiseMul", "SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseSoftmax")
def one_for_each(c: ShapeCall) -> list[Shape]:
    """One element for each of the sparse tensor's."""
    count = c.merge_dim(c.with_rank(c.shape(0), 2)[0], c.with_rank(c.shape(1), 1)[0])
    return [(count,)]
