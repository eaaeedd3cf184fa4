"""Shapes of ops on files."""

from __future__ import annotations

from drystone_base.ops.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("ReadFile")
def read_file(c: ShapeCall) -> list[Shape]:
    """A scalar."""
    c.with_rank(c.shape(0), 0)
    return [()]


@shape("WriteFile")
def write_file(c: ShapeCall) -> list[Shape]:
    """Nothing."""
    c.with_rank(c.shape(0), 0)
    c.with_rank(c.shape(1), 0)
    return []


@shape("MatchingFiles")
def matching_files(_: ShapeCall) -> list[Shape]:
    """As many names as match."""
    return [(UNKNOWN,)]
