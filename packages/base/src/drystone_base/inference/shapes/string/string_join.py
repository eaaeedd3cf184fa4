"""Shapes of ops that join strings."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("StringJoin")
def string_join(c: ShapeCall) -> list[Shape]:
    """The common shape of inputs that are not scalars; unknown if one's rank is."""
    if any(s is None for s in c.shapes):
        return [None]
    out: Shape = ()
    for given in c.shapes:
        if given:
            out = c.merge(out, given) if out else given
    return [out]


@shape("ReduceJoin")
def reduce_join(c: ShapeCall) -> list[Shape]:
    """The input's shape without the reduced axes."""
    given, axes = c.shape(0), c.value(1)
    if given is None:
        return [None]
    rank = len(given)
    if axes is None:
        count = c.shape(1)
        if c.attrs["keep_dims"]:
            return [(UNKNOWN,) * rank]
        size = 1 if count == () else count[0] if count is not None and len(count) == 1 else UNKNOWN
        return [(UNKNOWN,) * (rank - size) if 0 <= size <= rank else None]
    chosen = [int(a) for a in axes.reshape(-1)]
    if any(not -rank <= a < rank for a in chosen):
        c.fail("axes must be the input's", found=chosen, needed=f"from {-rank} to {rank - 1}")
    gone = {a % rank for a in chosen}
    if c.attrs["keep_dims"]:
        return [tuple(1 if k in gone else d for k, d in enumerate(given))]
    return [tuple(d for k, d in enumerate(given) if k not in gone)]


@shape("UnsortedSegmentJoin")
def unsorted_segment_join(c: ShapeCall) -> list[Shape]:
    """The number of segments before the dims that segment ids leave."""
    given, ids, count = c.shape(0), c.shape(1), c.int_value(2)
    if given is None or ids is None:
        return [None]
    if len(ids) > len(given):
        c.fail("segment ids must not have a higher rank", found=list(ids), needed=list(given))
    c.merge(given[: len(ids)], ids)
    return [(UNKNOWN if count is None else count, *given[len(ids) :])]
