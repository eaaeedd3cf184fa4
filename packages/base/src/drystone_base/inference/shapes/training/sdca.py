"""Shapes of dual coordinate ascent."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("SdcaOptimizer", "SdcaOptimizerV2")
def optimizer(c: ShapeCall) -> list[Shape]:
    """Four numbers for each example, and the shapes of the weights."""
    weights = [c.shape(k) for name in ("sparse_weights", "dense_weights")
               for k in range(*c.input_slices[name].indices(len(c.shapes)))]  # fmt: skip
    return [(UNKNOWN, 4), *weights]


@shape("SdcaShrinkL1")
def shrink(c: ShapeCall) -> list[Shape]:
    """Nothing."""
    del c
    return []


@shape("SdcaFprint")
def fprint(c: ShapeCall) -> list[Shape]:
    """Two numbers for each string."""
    return [(c.with_rank(c.shape(0), 1)[0], 2)]
