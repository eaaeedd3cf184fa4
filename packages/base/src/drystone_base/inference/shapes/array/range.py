"""Shapes of sequences of numbers and of broadcasting's shape arithmetic."""

from __future__ import annotations

import math

import numpy as np

from drystone_base.inference.shapes._registry import UNKNOWN, PartialValue, Shape, ShapeCall, shape


@shape("Range")
def arithmetic_range(c: ShapeCall) -> list[Shape]:
    """A vector; its length is known when all three inputs are."""
    start, limit, delta = (c.value(k) for k in range(3))
    if start is None or limit is None or delta is None:
        return [(_open_length(c),)]
    wide = np.dtype(np.int64 if start.dtype.kind in "iu" else np.float64)
    first, last, step = (v.astype(wide).item() for v in (start, limit, delta))
    if step == 0:
        c.fail("delta must not be zero", found=step)
    if not (first <= last if step > 0 else first >= last):
        c.fail("delta must point from start to limit", found=f"{first}, {last}, {step}")
    if wide.kind == "i":
        return [(-int(-abs(last - first) // abs(step)),)]
    ratio = abs((last - first) / step)
    return [(math.ceil(ratio) if math.isfinite(ratio) else UNKNOWN,)]


def _open_length(c: ShapeCall) -> int:
    """Counting from 0 by 1 to a dimension gives as many elements as the dimension has."""
    known = c.values[1]
    if c.int_value(0) == 0 and c.int_value(2) == 1 and isinstance(known, PartialValue):
        return min(known.items[0], UNKNOWN)
    return UNKNOWN


@shape("LinSpace")
def linspace(c: ShapeCall) -> list[Shape]:
    """A vector of ``num`` elements."""
    count = c.int_value(2)
    if count is not None and count <= 0:
        c.fail("num must be positive", found=count, needed="1 or more")
    return [(UNKNOWN if count is None else count,)]


@shape("BroadcastArgs")
def broadcast_args(c: ShapeCall) -> list[Shape]:
    """A vector as long as the longer shape."""
    lengths = [UNKNOWN if s is None else s[0] for s in (c.shape(0), c.shape(1))]
    a, b = c.value(0), c.value(1)
    if a is not None and b is not None:
        c.broadcast(tuple(map(int, a)), tuple(map(int, b)))
    return [(max(lengths) if min(lengths) >= 0 else UNKNOWN,)]


@shape("BroadcastGradientArgs")
def broadcast_gradient_args(c: ShapeCall) -> list[Shape]:
    """Two vectors, as long as there are axes of size 1 to sum over; none between equal shapes."""
    a, b = c.value(0), c.value(1)
    if a is None or b is None:
        return [(UNKNOWN,), (UNKNOWN,)]
    rank = max(a.size, b.size)
    same = a.tolist() == b.tolist()
    return [(0 if same else rank - v.size + int((v == 1).sum()),) for v in (a, b)]
