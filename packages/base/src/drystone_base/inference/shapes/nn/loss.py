"""Shapes of losses and of InTopK."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("SoftmaxCrossEntropyWithLogits")
def cross_entropy(c: ShapeCall) -> list[Shape]:
    """Loss ``[batch]`` and gradient ``[batch, classes]``."""
    whole = c.with_rank(c.broadcast(c.with_rank(c.shape(0), 2), c.with_rank(c.shape(1), 2)), 2)
    return [whole[:1], whole]


@shape("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(c: ShapeCall) -> list[Shape]:
    """Loss ``[batch]`` and gradient ``[batch, classes]``."""
    batch, classes = c.with_rank(c.shape(0), 2)
    batch = c.merge_dim(batch, c.with_rank(c.shape(1), 1)[0])
    return [(batch,), (batch, classes)]


@shape("InTopK", "InTopKV2")
def in_top_k(c: ShapeCall) -> list[Shape]:
    """``[batch]``."""
    return [(c.merge_dim(c.with_rank(c.shape(0), 2)[0], c.with_rank(c.shape(1), 1)[0]),)]
