"""Shapes of the matrix products."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


def product_shape(c: ShapeCall, a: Shape, b: Shape, flip_a: bool, flip_b: bool) -> Shape:
    """``[m, n]`` of a product of two matrices, each possibly transposed."""
    rows, inner = c.with_rank(a, 2)[:: -1 if flip_a else 1]
    other, columns = c.with_rank(b, 2)[:: -1 if flip_b else 1]
    c.merge_dim(inner, other)
    return rows, columns


@shape("MatMul", "SparseMatMul", "_FusedMatMul")
def matmul(c: ShapeCall) -> list[Shape]:
    """``[m, k] x [k, n] -> [m, n]``."""
    flips = c.attrs["transpose_a"], c.attrs["transpose_b"]
    return [product_shape(c, c.shape(0), c.shape(1), *flips)]


@shape("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(c: ShapeCall) -> list[Shape]:
    """``[..., m, k] x [..., k, n] -> [..., m, n]``."""
    x, y = c.with_rank_at_least(c.shape(0), 2), c.with_rank_at_least(c.shape(1), 2)
    tail_x, tail_y = (None if s is None else s[-2:] for s in (x, y))
    product = product_shape(c, tail_x, tail_y, c.attrs["adj_x"], c.attrs["adj_y"])
    join = c.merge if c.op == "BatchMatMul" else c.broadcast
    lead = join(None if x is None else x[:-2], None if y is None else y[:-2])
    if lead is None or product is None:
        return [None]
    return [(*lead, *product)]


@shape("Cross")
def cross(c: ShapeCall) -> list[Shape]:
    """Both inputs' shape, which must end in 3."""
    merged = c.with_rank_at_least(c.merge(c.shape(0), c.shape(1)), 1)
    if merged is not None:
        c.merge_dim(merged[-1], 3)
        merged = (*merged[:-1], 3)
    return [merged]
