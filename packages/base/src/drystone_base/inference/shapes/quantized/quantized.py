"""Shapes of the layers over quantized tensors: the plain layer's shape, then two scalars."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.array.joining import concatenated
from drystone_base.inference.shapes.array.shape_ops import reshape
from drystone_base.inference.shapes.image.image import resized
from drystone_base.inference.shapes.linalg.matmul import matmul
from drystone_base.inference.shapes.nn.activation import bias_add
from drystone_base.inference.shapes.nn.convolution import convolved, depthwise
from drystone_base.inference.shapes.nn.pooling import pool

__all__ = ["check_scalars"]

_RANGE: list[Shape] = [(), ()]


def check_scalars(c: ShapeCall, *indices: int) -> None:
    """Fail unless the inputs of these places are scalars."""
    for k in indices:
        c.with_rank(c.shape(k), 0)


@shape("QuantizeDownAndShrinkRange", "QuantizedRelu", "QuantizedRelu6", "Requantize")
def unchanged(c: ShapeCall) -> list[Shape]:
    """The input's shape and a range; all other inputs are scalars."""
    check_scalars(c, *range(1, len(c.shapes)))
    return [c.shape(0), *_RANGE]


@shape("QuantizedReluX")
def relu_x(c: ShapeCall) -> list[Shape]:
    """The input's shape and a range; TensorFlow looks at the first two scalars only."""
    check_scalars(c, 1, 2)
    return [c.shape(0), *_RANGE]


@shape("RequantizationRange")
def used_range(c: ShapeCall) -> list[Shape]:
    """A range."""
    check_scalars(c, 1, 2)
    return list(_RANGE)


@shape("RequantizationRangePerChannel")
def used_range_per_channel(c: ShapeCall) -> list[Shape]:
    """A range; there is one for each channel in."""
    for k in (1, 2):
        c.with_rank(c.shape(k), 1)
    return list(_RANGE)


@shape("RequantizePerChannel")
def requantize_per_channel(c: ShapeCall) -> list[Shape]:
    """The input's shape and a range; there is one for each channel in."""
    for k in (1, 2):
        c.with_rank(c.shape(k), 1)
    check_scalars(c, 3, 4)
    return [c.shape(0), *_RANGE]


@shape("QuantizedAdd", "QuantizedMul")
def elementwise(c: ShapeCall) -> list[Shape]:
    """Both inputs' shapes broadcast, and a range."""
    return [c.broadcast(c.shape(0), c.shape(1)), *_RANGE]


@shape("QuantizedMatMul")
def quantized_matmul(c: ShapeCall) -> list[Shape]:
    """The product's shape and a range."""
    check_scalars(c, *range(2, 6))
    return [*matmul(c), *_RANGE]


@shape("QuantizedBiasAdd")
def quantized_bias_add(c: ShapeCall) -> list[Shape]:
    """The input's shape and a range."""
    check_scalars(c, *range(2, 6))
    return [*bias_add(c), *_RANGE]


@shape("QuantizedConv2D")
def quantized_conv2d(c: ShapeCall) -> list[Shape]:
    """``[N, *out, D]`` and a range."""
    check_scalars(c, *range(2, 6))
    return [convolved(c, c.shape(0), 4), *_RANGE]


@shape(
    "QuantizedConv2DAndRelu",
    "QuantizedConv2DAndReluAndRequantize",
    "QuantizedConv2DAndRequantize",
    "QuantizedConv2DPerChannel",
    "QuantizedConv2DWithBias",
    "QuantizedConv2DWithBiasAndRelu",
    "QuantizedConv2DWithBiasAndReluAndRequantize",
    "QuantizedConv2DWithBiasAndRequantize",
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
    "QuantizedConv2DWithBiasSumAndRelu",
    "QuantizedConv2DWithBiasSumAndReluAndRequantize",
)
def quantized_fused(c: ShapeCall) -> list[Shape]:
    """``[N, *out, D]`` and a range: for each filter where theirs are vectors, else one."""
    return [_explicit(c) or convolved(c, c.shape(0), 4), *_filter_ranges(c)]


@shape(
    "QuantizedDepthwiseConv2D",
    "QuantizedDepthwiseConv2DWithBias",
    "QuantizedDepthwiseConv2DWithBiasAndRelu",
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
)
def quantized_depthwise(c: ShapeCall) -> list[Shape]:
    """``[N, *out, C * D]`` and a range."""
    return [_explicit(c) or depthwise(c)[0], *_filter_ranges(c)]


def _explicit(c: ShapeCall) -> Shape:
    """Only the rank, where padding is given in ``padding_list``."""
    return (UNKNOWN,) * 4 if c.attrs["padding"] == "EXPLICIT" else None


def _filter_ranges(c: ShapeCall) -> list[Shape]:
    if c.attrs["out_type"].label != "qint32":
        return list(_RANGE)
    given = c.shape(5 if "WithBias" in c.op else 4)
    return [given, given]


@shape("QuantizedAvgPool", "QuantizedMaxPool")
def quantized_pool(c: ShapeCall) -> list[Shape]:
    """``[N, *out, C]`` and a range."""
    check_scalars(c, 1, 2)
    return [*pool(c), *_RANGE]


@shape("QuantizedReshape")
def quantized_reshape(c: ShapeCall) -> list[Shape]:
    """The new shape and a range."""
    check_scalars(c, 2, 3)
    return [*reshape(c), *_RANGE]


@shape("QuantizedConcat", "QuantizedConcatV2")
def quantized_concat(c: ShapeCall) -> list[Shape]:
    """The inputs' shapes merged, their sizes along the dimension added, and a range."""
    count = len(c.shapes) // 3
    check_scalars(c, *range(count + 1, len(c.shapes)))
    first = 1 if c.op == "QuantizedConcat" else 0
    axis = c.int_value(0 if first else count)
    return [concatenated(c, c.shapes[first : count + first], axis), *_RANGE]


@shape("QuantizedInstanceNorm")
def quantized_instance_norm(c: ShapeCall) -> list[Shape]:
    """The input's shape, of rank 4, and a range."""
    check_scalars(c, 1, 2)
    return [c.with_rank(c.shape(0), 4), *_RANGE]


@shape("QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm(c: ShapeCall) -> list[Shape]:
    """The input's shape, its channels merged with the vectors' length, and a range."""
    dims = list(c.with_rank(c.shape(0), 4))
    for k in range(3, 15, 3):
        dims[-1] = c.merge_dim(dims[-1], c.with_rank(c.shape(k), 1)[0])
    check_scalars(c, *(k for k in range(1, 15) if k % 3))
    return [tuple(dims), *_RANGE]


@shape("QuantizedResizeBilinear")
def quantized_resize(c: ShapeCall) -> list[Shape]:
    """``[N, h, w, C]`` and a range."""
    check_scalars(c, 2, 3)
    return [*resized(c), *_RANGE]


@shape(
    "QuantizedMatMulWithBias",
    "QuantizedMatMulWithBiasAndDequantize",
    "QuantizedMatMulWithBiasAndRelu",
    "QuantizedMatMulWithBiasAndReluAndRequantize",
    "QuantizedMatMulWithBiasAndRequantize",
)
def matmul_with_bias(c: ShapeCall) -> list[Shape]:
    """The product's shape and, unless it is dequantized, a range."""
    c.with_rank(c.shape(2), 1)
    check_scalars(c, *range(3, len(c.shapes)))
    return [*matmul(c), *_RANGE][: c.output_count]
