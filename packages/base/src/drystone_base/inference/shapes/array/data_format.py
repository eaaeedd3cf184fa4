"""Shapes of the ops that carry axes and vectors from one data format to another."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("DataFormatDimMap", "DataFormatVecPermute")
def same(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]
