"""Shapes of ops that cut strings: how many tokens come out is known only at run time."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("StringSplit", "StringSplitV2")
def string_split(c: ShapeCall) -> list[Shape]:
    """Indices, values and shape of a sparse matrix."""
    c.with_rank(c.shape(0), 1)
    c.with_rank(c.shape(1), 0)
    return [(UNKNOWN, 2), (UNKNOWN,), (2,)]


@shape("StringNGrams")
def string_ngrams(c: ShapeCall) -> list[Shape]:
    """A vector of n-grams, and as many splits as came in."""
    c.with_rank(c.shape(0), 1)
    return [(UNKNOWN,), c.with_rank(c.shape(1), 1)]
