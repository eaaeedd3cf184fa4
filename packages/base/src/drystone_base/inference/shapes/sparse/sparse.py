"""Shapes of the ops on sparse tensors: indices [n, rank], values [n], shape [rank]."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__ = ["sparse_rank"]


def sparse_rank(c: ShapeCall, indices: int, dense: int) -> int:
    """The rank that the inputs of those numbers (indices, dense shape) agree on."""
    columns = c.with_rank(c.shape(indices), 2)[1]
    return c.merge_dim(columns, c.with_rank(c.shape(dense), 1)[0])


def _count(c: ShapeCall, indices: int, values: int) -> int:
    return c.merge_dim(c.with_rank(c.shape(indices), 2)[0], c.with_rank(c.shape(values), 1)[0])


@shape("SparseToDense")
def sparse_to_dense(c: ShapeCall) -> list[Shape]:
    """The value of ``output_shape``."""
    return [c.value_as_shape(1)]


@shape("SparseReorder")
def sparse_reorder(c: ShapeCall) -> list[Shape]:
    """Indices and values as they were."""
    count = _count(c, 0, 1)
    return [(count, sparse_rank(c, 0, 2)), (count,)]


@shape("SparseReshape")
def sparse_reshape(c: ShapeCall) -> list[Shape]:
    """As many index vectors, as long as the new shape."""
    sparse_rank(c, 0, 1)
    rank = c.with_rank(c.shape(2), 1)[0]
    return [(c.with_rank(c.shape(0), 2)[0], rank), (rank,)]


@shape("SparseFillEmptyRows")
def sparse_fill_empty_rows(c: ShapeCall) -> list[Shape]:
    """Unknown counts; one flag for each row."""
    dense = c.value_as_shape(2)
    rows = dense[0] if dense else UNKNOWN
    return [(UNKNOWN, sparse_rank(c, 0, 2)), (UNKNOWN,), (rows,), (_count(c, 0, 1),)]


@shape("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def sparse_fill_empty_rows_grad(c: ShapeCall) -> list[Shape]:
    """A vector like the map, and a scalar."""
    return [c.with_rank(c.shape(0), 1), ()]


@shape("SparseSlice")
def sparse_slice(c: ShapeCall) -> list[Shape]:
    """Unknown counts."""
    rank = sparse_rank(c, 0, 2)
    return [(UNKNOWN, rank), (UNKNOWN,), (rank,)]


@shape("SparseSliceGrad")
def sparse_slice_grad(c: ShapeCall) -> list[Shape]:
    """One gradient for each element of the input."""
    return [(c.with_rank(c.shape(1), 2)[0],)]


@shape("SparseConcat")
def sparse_concat(c: ShapeCall) -> list[Shape]:
    """The counts added."""
    total, rank = 0, UNKNOWN
    places = c.input_slices["indices"], c.input_slices["values"], c.input_slices["shapes"]
    for i, v, s in zip(*(range(p.start, p.stop) for p in places), strict=True):
        count = _count(c, i, v)
        total = UNKNOWN if total < 0 or count < 0 else total + count
        rank = c.merge_dim(rank, sparse_rank(c, i, s))
    return [(total, rank), (total,), (rank,)]


@shape("SparseSplit")
def sparse_split(c: ShapeCall) -> list[Shape]:
    """Unknown counts."""
    rank, count = sparse_rank(c, 1, 3), c.attrs["num_split"]
    out: list[Shape] = [(UNKNOWN, rank)] * count
    return [*out, *[(UNKNOWN,)] * count, *[(rank,)] * count]
