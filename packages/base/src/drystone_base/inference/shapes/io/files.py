"""Shapes of ops on files."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("ReadFile")
def read_file(c: ShapeCall) -> list[Shape]:
    """A scalar, never a constant: inference must not read files."""
    c.with_rank(c.shape(0), 0)
    c.output_values = [None]
    return [()]


@shape("WriteFile")
def write_file(c: ShapeCall) -> list[Shape]:
    """Nothing."""
    c.with_rank(c.shape(0), 0)
    c.with_rank(c.shape(1), 0)
    return []


@shape("MatchingFiles")
def matching_files(c: ShapeCall) -> list[Shape]:
    """As many names as match; inference must not look for them."""
    c.output_values = [None]
    return [(UNKNOWN,)]
