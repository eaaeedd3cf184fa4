"""Shapes of the ops that count into a sparse tensor."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.sparse.sparse import sparse_rank

__all__: list[str] = []


@shape("DenseCountSparseOutput", "SparseCountSparseOutput", "RaggedCountSparseOutput")
def counts(c: ShapeCall) -> list[Shape]:
    """A sparse tensor of unknown count, of the values' rank."""
    if c.op.startswith("Dense"):
        values = c.with_rank_at_least(c.shape(0), 1)
        rank = UNKNOWN if values is None else len(values)
    else:
        rank = 2 if c.op.startswith("Ragged") else sparse_rank(c, 0, 2)
    return [(UNKNOWN, rank), (UNKNOWN,), (rank,)]
