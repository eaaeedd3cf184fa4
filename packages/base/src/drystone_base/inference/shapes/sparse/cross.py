"""Shapes of feature crosses."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("SparseCross", "SparseCrossV2", "SparseCrossHashed")
def sparse_cross(_: ShapeCall) -> list[Shape]:
    """A sparse matrix."""
    return [(UNKNOWN, 2), (UNKNOWN,), (2,)]


@shape("RaggedCross")
def ragged_cross(c: ShapeCall) -> list[Shape]:
    """Values, and splits: one more than any column has examples."""
    splits = UNKNOWN
    ragged, sparse = len(c.attrs["ragged_values_types"]), int(c.attrs["Nsparse"])
    for k in range(ragged, 2 * ragged):
        splits = c.merge_dim(splits, c.with_rank(c.shape(k), 1)[0])
    for k in range(2 * ragged + 3 * sparse, len(c.shapes)):
        splits = c.merge_dim(splits, _more(c.with_rank(c.shape(k), 2)[0]))
    for k in range(2 * ragged + 2 * sparse, 2 * ragged + 3 * sparse):
        dense = c.value_as_shape(k)
        splits = c.merge_dim(splits, _more(dense[0]) if dense else UNKNOWN)
    return [(UNKNOWN,), (splits,)]


def _more(rows: int) -> int:
    return rows + 1 if rows >= 0 else UNKNOWN
