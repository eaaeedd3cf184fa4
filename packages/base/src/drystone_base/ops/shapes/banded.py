"""Shapes of banded solves and approximate top-k."""

from __future__ import annotations

from drystone_base.ops.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("BandedTriangularSolve")
def banded_triangular_solve(c: ShapeCall) -> list[Shape]:
    """The right-hand sides' shape below the broadcast batches."""
    bands, rhs = c.with_rank_at_least(c.shape(0), 2), c.with_rank_at_least(c.shape(1), 2)
    if bands is None or rhs is None:
        return [None]
    lead = c.broadcast(bands[:-2], rhs[:-2])
    rows = c.merge_dim(bands[-1], rhs[-2])
    return [None if lead is None else (*lead, rows, rhs[-1])]


@shape("ApproxTopK")
def approx_top_k(c: ShapeCall) -> list[Shape]:
    """``k`` entries along the dimension; not known how many where partial results stay apart."""
    given, axis, count = c.shape(0), int(c.attrs["reduction_dimension"]), int(c.attrs["k"])
    if given is None:
        return [None, None]
    if not -len(given) <= axis < len(given):
        c.fail("the dimension must be one of the input's", found=axis, needed=f"rank {len(given)}")
    axis %= len(given)
    if 0 <= given[axis] < count:
        c.fail("k must not exceed the dimension", found=count, needed=f"at most {given[axis]}")
    width = count if c.attrs["aggregate_to_topk"] else UNKNOWN
    out = (*given[:axis], width, *given[axis + 1 :])
    return [out, out]
