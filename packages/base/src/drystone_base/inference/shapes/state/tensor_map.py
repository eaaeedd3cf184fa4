"""Shapes of TensorMap ops: a map does not say the shapes of what it holds."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("EmptyTensorMap", "TensorMapSize", "TensorMapInsert", "TensorMapErase", "TensorMapHasKey")
def scalar(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("TensorMapLookup", "TensorMapStackKeys")
def unknown(_: ShapeCall) -> list[Shape]:
    """Whatever the map holds."""
    return [None]
