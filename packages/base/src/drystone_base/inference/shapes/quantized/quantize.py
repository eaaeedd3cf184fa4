"""Shapes of quantization."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape
from drystone_base.ops.own import FROM_GRID, TO_GRID

__all__: list[str] = []


@shape(
    "Dequantize",
    "QuantizeAndDequantize",
    "QuantizeAndDequantizeV2",
    "QuantizeAndDequantizeV3",
    "QuantizeAndDequantizeV4",
    "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVars",
    FROM_GRID,
    TO_GRID,
)
def unchanged(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("QuantizeAndDequantizeV4Grad")
def quantize_grad(c: ShapeCall) -> list[Shape]:
    """The inputs' shape and those of the range."""
    return [c.merge(c.shape(0), c.shape(1)), c.shape(2), c.shape(3)]


@shape("QuantizeV2")
def quantize(c: ShapeCall) -> list[Shape]:
    """The input's shape, and scalars or vectors along the axis."""
    axis = c.attrs["axis"]
    if axis == -1:
        return [c.shape(0), (), ()]
    given = c.with_rank_at_least(c.shape(0), axis + 1)
    (length,) = c.with_rank(c.merge(c.shape(1), c.shape(2)), 1)
    if given is not None:
        length = c.merge_dim(length, given[axis])
    return [given, (length,), (length,)]


@shape("FakeQuantWithMinMaxVarsPerChannel")
def per_channel(c: ShapeCall) -> list[Shape]:
    """The input's shape, whose last dim is the number of ranges."""
    given = c.with_rank_at_least(c.shape(0), 1)
    (count,) = c.with_rank(c.merge(c.shape(1), c.shape(2)), 1)
    return [None if given is None else (*given[:-1], c.merge_dim(given[-1], count))]


@shape("FakeQuantWithMinMaxArgsGradient")
def args_grad(c: ShapeCall) -> list[Shape]:
    """The shape that both inputs have."""
    return [c.merge(c.shape(0), c.shape(1))]


@shape("FakeQuantWithMinMaxVarsGradient")
def vars_grad(c: ShapeCall) -> list[Shape]:
    """The inputs' shape and two scalars."""
    return [c.merge(c.shape(0), c.shape(1)), (), ()]


@shape("FakeQuantWithMinMaxVarsPerChannelGradient")
def per_channel_grad(c: ShapeCall) -> list[Shape]:
    """The inputs' shape and two vectors as long as its last dim."""
    given = c.with_rank_at_least(c.merge(c.shape(0), c.shape(1)), 1)
    (count,) = c.with_rank(c.merge(c.shape(2), c.shape(3)), 1)
    if given is None:
        return [None, (count,), (count,)]
    count = c.merge_dim(given[-1], count)
    return [(*given[:-1], count), (count,), (count,)]
