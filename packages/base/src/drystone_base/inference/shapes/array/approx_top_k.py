"""Shapes of approximate top-k."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


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
