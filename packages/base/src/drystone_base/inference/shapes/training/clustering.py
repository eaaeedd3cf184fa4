"""Shapes of cluster seeds and nearest centres: TensorFlow infers none but a scalar's."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape("KmeansPlusPlusInitialization", "NearestNeighbors")
def unknown(c: ShapeCall) -> list[Shape]:
    """Nothing is known."""
    return [None] * c.output_count


@shape("KMC2ChainInitialization")
def kmc2_chain(c: ShapeCall) -> list[Shape]:
    """A scalar."""
    del c
    return [()]
