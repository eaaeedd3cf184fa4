"""Shapes of the set operations."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.sparse.sparse import sparse_rank

__all__: list[str] = []


@shape("DenseToDenseSetOperation", "DenseToSparseSetOperation", "SparseToSparseSetOperation")
def set_operation(c: ShapeCall) -> list[Shape]:
    """A sparse tensor of the inputs' rank."""
    rank = UNKNOWN
    if c.op.startswith("Dense"):
        dims = c.with_rank_at_least(c.shape(0), 1)
        rank = UNKNOWN if dims is None else len(dims)
        other = c.shape(1) if c.op.startswith("DenseToDense") else None
        rank = c.merge_dim(rank, rank if other is None else len(other))
        if c.op.startswith("DenseToSparse"):
            rank = c.merge_dim(rank, sparse_rank(c, 1, 3))
    else:
        rank = c.merge_dim(sparse_rank(c, 0, 2), sparse_rank(c, 3, 5))
    return [(UNKNOWN, rank), (UNKNOWN,), (rank,)]


@shape("SetSize")
def set_size(c: ShapeCall) -> list[Shape]:
    """The leading dimensions."""
    dims = c.value_as_shape(2)
    return [None if dims is None else dims[:-1]]
