"""Shapes of the ops that add a border to a tensor."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape("Pad", "PadV2", "MirrorPad", "MirrorPadGrad")
def pad(c: ShapeCall) -> list[Shape]:
    """Each dimension with its two paddings added (taken away, for the gradient)."""
    dims, paddings = c.shape(0), c.value(1)
    rows = c.with_rank(c.shape(1), 2)[0]
    if paddings is None:
        if dims is None:
            return [(UNKNOWN,) * rows if rows >= 0 else None]
        return [(UNKNOWN,) * len(dims)]
    full = c.with_rank(dims, len(paddings))
    if (paddings < 0).any():
        c.fail("paddings must not be negative", found=paddings.tolist(), needed="0 or more")
    totals = [int(total) for total in paddings.sum(axis=1)]
    if c.op == "MirrorPadGrad":
        totals = [-total for total in totals]
    return [tuple(_padded(c, d, n) for d, n in zip(full, totals, strict=True))]


def _padded(c: ShapeCall, dim: int, added: int) -> int:
    if not added:
        return dim
    if dim >= 0 and dim + added < 0:
        c.fail("paddings must not exceed the dimension", found=-added, needed=f"at most {dim}")
    return dim + added if dim >= 0 else UNKNOWN
