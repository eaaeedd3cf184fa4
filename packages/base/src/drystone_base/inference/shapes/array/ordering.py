"""Shapes of the ops that sort, select, search, reverse or rotate."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


def _top(c: ShapeCall, k: int | None) -> list[Shape]:
    dims = c.with_rank_at_least(c.shape(0), 1)
    if dims is None:
        return [None, None]
    if k is not None and (k < 0 or 0 <= dims[-1] < k):
        c.fail("the last dimension must have at least k elements", found=dims[-1], needed=k)
    out = (*dims[:-1], UNKNOWN if k is None else k)
    return [out, out]


@shape("TopK")
def top_k(c: ShapeCall) -> list[Shape]:
    """The input's shape with ``k`` for its last dimension."""
    return _top(c, c.attrs["k"])


@shape("TopKV2")
def top_k_v2(c: ShapeCall) -> list[Shape]:
    """The input's shape with ``k`` for its last dimension."""
    return _top(c, c.int_value(1))


@shape("NthElement")
def nth_element(c: ShapeCall) -> list[Shape]:
    """The input's shape without its last dimension."""
    dims = c.with_rank_at_least(c.shape(0), 1)
    return [None if dims is None else dims[:-1]]


@shape("Where")
def where(c: ShapeCall) -> list[Shape]:
    """A matrix of index vectors."""
    dims = c.shape(0)
    return [(UNKNOWN, UNKNOWN if dims is None else len(dims))]


@shape("LowerBound", "UpperBound")
def bound(c: ShapeCall) -> list[Shape]:
    """The shape of the values."""
    rows, values = c.with_rank(c.shape(0), 2), c.with_rank(c.shape(1), 2)
    return [(c.merge_dim(rows[0], values[0]), values[1])]


@shape("Reverse", "ReverseV2", "Roll")
def same(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("ReverseSequence")
def reverse_sequence(c: ShapeCall) -> list[Shape]:
    """The input's shape; the batch dimension is as long as the lengths."""
    dims, (count,), batch = c.shape(0), c.with_rank(c.shape(1), 1), c.attrs["batch_dim"]
    if dims is None:
        return [None]
    if not (0 <= batch < len(dims) and 0 <= c.attrs["seq_dim"] < len(dims)):
        c.fail("seq_dim and batch_dim must be dimensions", found=batch, needed=len(dims))
    return [(*dims[:batch], c.merge_dim(dims[batch], count), *dims[batch + 1 :])]
