"""Shape of StochasticCastToInt."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("StochasticCastToInt")
def stochastic_cast_to_int(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    (size,) = c.with_rank(c.shape(1), 1)
    c.merge_dim(size, 1)
    c.with_rank(c.shape(2), 1)
    c.with_rank(c.shape(3), 0)
    return [c.shape(0)]
