"""Shapes of banded solves."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("BandedTriangularSolve")
def banded_triangular_solve(c: ShapeCall) -> list[Shape]:
    """The right-hand sides' shape below the broadcast batches."""
    bands, rhs = c.with_rank_at_least(c.shape(0), 2), c.with_rank_at_least(c.shape(1), 2)
    if bands is None or rhs is None:
        return [None]
    lead = c.broadcast(bands[:-2], rhs[:-2])
    rows = c.merge_dim(bands[-1], rhs[-2])
    return [None if lead is None else (*lead, rows, rhs[-1])]
