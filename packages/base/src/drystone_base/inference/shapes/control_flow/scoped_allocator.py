"""Shapes of the ops that keep several tensors in one buffer."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("_ScopedAllocator")
def buffer(c: ShapeCall) -> list[Shape]:
    """The attribute."""
    return [c.attrs["shape"]]


@shape("_ScopedAllocatorConcat")
def joined(c: ShapeCall) -> list[Shape]:
    """The attribute where the buffer is reshaped, else the buffer's shape."""
    return [c.attrs["shape"] if c.attrs["reshape"] else c.shape(0)]


@shape("_ScopedAllocatorSplit")
def apart(c: ShapeCall) -> list[Shape]:
    """The shapes of the parts."""
    return list(c.shapes[1:])
