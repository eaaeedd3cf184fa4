"""Shapes of ops between strings and code points."""

from __future__ import annotations

import math

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("UnicodeDecode", "UnicodeDecodeWithOffsets")
def unicode_decode(c: ShapeCall) -> list[Shape]:
    """One split more than there are strings; as many code points as they hold."""
    given = c.shape(0)
    known = given is not None and all(d >= 0 for d in given)
    count = math.prod(given) + 1 if known and given is not None else UNKNOWN
    out: list[Shape] = [(count,), (UNKNOWN,), (UNKNOWN,)]
    return out[: c.output_count]


@shape("UnicodeEncode")
def unicode_encode(c: ShapeCall) -> list[Shape]:
    """One string fewer than there are splits."""
    c.with_rank(c.shape(0), 1)
    (splits,) = c.with_rank(c.shape(1), 1)
    return [(max(splits - 1, 0) if splits >= 0 else UNKNOWN,)]
