"""Shapes of mutex ops."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("MutexV2", "MutexLock")
def scalar(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("ConsumeMutexLock")
def nothing(_: ShapeCall) -> list[Shape]:
    """Nothing."""
    return []
