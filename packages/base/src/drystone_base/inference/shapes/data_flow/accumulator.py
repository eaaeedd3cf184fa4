"""Shapes of conditional accumulators: their handles do not carry the shapes of gradients."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape(
    "ConditionalAccumulator", "SparseConditionalAccumulator", "ResourceConditionalAccumulator",
    "AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated",
)  # fmt: skip
def scalar(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape(
    "AccumulatorSetGlobalStep", "AccumulatorApplyGradient", "SparseAccumulatorApplyGradient",
    "ResourceAccumulatorSetGlobalStep", "ResourceAccumulatorApplyGradient",
)  # fmt: skip
def nothing(c: ShapeCall) -> list[Shape]:
    """Nothing; a step is a scalar."""
    c.with_rank(c.shape(1), 0)
    return []


@shape(
    "AccumulatorTakeGradient", "SparseAccumulatorTakeGradient", "ResourceAccumulatorTakeGradient"
)
def take(c: ShapeCall) -> list[Shape]:
    """Unknown, from a scalar number."""
    c.with_rank(c.shape(1), 0)
    return [None] * c.output_count
