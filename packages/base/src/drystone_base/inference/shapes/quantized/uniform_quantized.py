"""Shapes of uniform quantization."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.linalg.matmul import product_shape
from drystone_base.ops.dimension_numbers import conv_dims

__all__: list[str] = []


@shape("UniformQuantize", "UniformDequantize", "UniformRequantize", "UniformQuantizedClipByValue")
def unchanged(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("UniformQuantizedAdd")
def uniform_add(c: ShapeCall) -> list[Shape]:
    """Both sides' shapes broadcast."""
    return [c.broadcast(c.shape(0), c.shape(1))]


@shape("UniformQuantizedDot", "UniformQuantizedDotHybrid")
def uniform_dot(c: ShapeCall) -> list[Shape]:
    """``[m, k] x [k, n] -> [m, n]``."""
    return [product_shape(c, c.shape(0), c.shape(1), False, False)]


@shape("UniformQuantizedConvolution", "UniformQuantizedConvolutionHybrid")
def uniform_convolution(c: ShapeCall) -> list[Shape]:
    """Batch and features; the spatial dimensions are left open."""
    given, kernel = c.shape(0), c.shape(1)
    if given is None or kernel is None:
        return [None]
    if len(given) != len(kernel) or len(given) < 3:
        c.fail("both sides must have the same rank", found=f"{list(given)} and {list(kernel)}")
    dims = conv_dims(c.attrs["dimension_numbers"], len(given), uniform=True)
    if not dims.fits(len(given)):
        c.fail("dimension_numbers must name each dimension once", found=dims)
    out = [UNKNOWN] * len(given)
    batch = given[dims.input[0]]
    out[dims.output[0]] = batch // c.attrs["batch_group_count"] if batch >= 0 else UNKNOWN
    out[dims.output[1]] = kernel[dims.kernel[1]]
    return [tuple(out)]
