"""Shapes of stack ops."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("Stack", "StackV2")
def stack(_: ShapeCall) -> list[Shape]:
    """A scalar handle."""
    return [()]


@shape("StackPush", "StackPushV2")
def push(c: ShapeCall) -> list[Shape]:
    """The pushed element's shape."""
    c.output_handles = [c.handles[1]]
    c.output_values = [c.values[1]]
    return [c.shape(1)]


@shape("StackPop", "StackPopV2")
def pop(_: ShapeCall) -> list[Shape]:
    """Unknown: the elements of a stack may differ."""
    return [None]


@shape("StackClose", "StackCloseV2")
def close(_: ShapeCall) -> list[Shape]:
    """Nothing."""
    return []
