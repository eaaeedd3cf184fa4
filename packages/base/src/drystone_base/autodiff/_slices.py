"""Gradients of a few rows of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from drystone_base.core.dtypes import INT32, INT64
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Output

__all__ = ["Grad", "IndexedSlices", "dense", "total"]


class IndexedSlices(NamedTuple):
    """A gradient that is zero but for some rows: what optimizers call sparse.

    Row ``indices[k]`` of the tensor has the gradient ``values[k]``; the gradients of a row that
    comes several times add up. ``dense_shape`` is the shape of the tensor. Source: TensorFlow's
    class of that name.
    """

    values: Output
    indices: Output
    dense_shape: Output


Grad: TypeAlias = "Output | IndexedSlices"
"""A gradient: an output of its tensor's shape, or rows of one."""


def dense(b: Builder, grad: Grad) -> Output:
    """The gradient as one tensor."""
    if not isinstance(grad, IndexedSlices):
        return grad
    zero = b.const(0, INT32)
    rows = b("GatherV2", grad.dense_shape, zero, zero)
    return b("UnsortedSegmentSum", grad.values, grad.indices, rows)


def total(b: Builder, grads: Sequence[Grad]) -> Grad:
    """The sum of one gradient or more; of rows alone it is rows, one after another."""
    if len(grads) == 1:
        return grads[0]
    rows = [g for g in grads if isinstance(g, IndexedSlices)]
    if len(rows) < len(grads):
        return b("AddN", [dense(b, g) for g in grads])
    zero = b.const(0, INT32)
    kinds = {b.dtype(g.indices) for g in rows}
    kind = kinds.pop() if len(kinds) == 1 else INT64
    indices = [g.indices if not kinds else b("Cast", g.indices, DstT=kind) for g in rows]
    return IndexedSlices(
        b("ConcatV2", [g.values for g in rows], zero), b("ConcatV2", indices, zero),
        rows[0].dense_shape,
    )  # fmt: skip
