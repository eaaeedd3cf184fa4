"""Shapes of comparisons, logic, selection and clipping."""

from __future__ import annotations

from drystone_base.core.errors import ShapeError
from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("Less", "LessEqual", "Greater", "GreaterEqual", "LogicalAnd", "LogicalOr")
def predicate(c: ShapeCall) -> list[Shape]:
    """Both shapes broadcast."""
    return [c.broadcast(c.shape(0), c.shape(1))]


@shape("Equal", "NotEqual")
def equal(c: ShapeCall) -> list[Shape]:
    """Both shapes broadcast; unknown where they may turn out not to and that is allowed."""
    if c.attrs["incompatible_shape_error"]:
        return [c.broadcast(c.shape(0), c.shape(1))]
    x, y = c.shape(0), c.shape(1)
    try:
        both = c.broadcast(x, y)
    except ShapeError:
        return [()]
    known = x is not None and y is not None and all(d >= 0 for d in x + y)
    return [both if known or (x is not None and x == y) else None]


@shape("Select")
def select(c: ShapeCall) -> list[Shape]:
    """The branches' shape; the condition is a scalar, a vector of rows, or of that shape."""
    condition, out = c.shape(0), c.merge(c.shape(1), c.shape(2))
    if condition is None or len(condition) == 0:
        return [out]
    if out is None:
        return [condition if len(condition) > 1 else None]
    if len(condition) == 1 and len(out) > 0:
        return [(c.merge_dim(condition[0], out[0]), *out[1:])]
    return [c.merge(condition, out)]


@shape("SelectV2")
def select_v2(c: ShapeCall) -> list[Shape]:
    """All three shapes broadcast."""
    return [c.broadcast(c.shape(0), c.broadcast(c.shape(1), c.shape(2)))]


@shape("ClipByValue")
def clip_by_value(c: ShapeCall) -> list[Shape]:
    """The tensor's shape; limits are scalars or of that shape."""
    out = c.shape(0)
    for limit in (c.shape(1), c.shape(2)):
        if limit is not None and len(limit) > 0 and not all(d in (1, UNKNOWN) for d in limit):
            out = c.merge(out, limit)
    return [out]
