"""Shapes of composite tensors in variants."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("CompositeTensorVariantFromComponents")
def from_components(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("CompositeTensorVariantToComponents")
def to_components(c: ShapeCall) -> list[Shape]:
    """Unknown: the variant says it."""
    return [None] * c.output_count
