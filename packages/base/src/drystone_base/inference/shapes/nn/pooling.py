"""Shapes of pooling and its gradients."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.inference.shapes.nn._windows import assemble, slid, split
from drystone_base.ops.windows import channels_axis, spatial_values

__all__: list[str] = []


def _layout(c: ShapeCall) -> str:
    return str(c.attrs.get("data_format") or "NHWC")


def _pooled(c: ShapeCall, ksize: Sequence[int], strides: Sequence[int]) -> Shape:
    layout = _layout(c)
    if layout == "NCHW_VECT_C":
        return (UNKNOWN,) * 5
    dims = c.with_rank(c.shape(0), 5 if "3D" in c.op else 4)
    if len(ksize) != len(dims):
        c.fail("ksize needs one entry per dimension", found=list(ksize), needed=len(dims))
    batch, spatial, channels = split(dims, layout)
    out = slid(c, spatial, spatial_values(ksize, layout), strides, data_format=layout)
    run = ksize[channels_axis(layout)]
    if run != 1:
        channels = channels // run if channels >= 0 and run > 0 else UNKNOWN
    return assemble(batch, out, channels, layout)


@shape("AvgPool", "MaxPool", "AvgPool3D", "MaxPool3D")
def pool(c: ShapeCall) -> list[Shape]:
    """``[N, *spatial, C] -> [N, *out, C]``."""
    return [_pooled(c, c.attrs["ksize"], c.attrs["strides"])]


@shape("MaxPoolV2")
def pool_v2(c: ShapeCall) -> list[Shape]:
    """As ``MaxPool``, with ksize and strides from inputs."""
    ksize, strides = (c.with_rank(c.value_as_shape(k), 4) for k in (1, 2))
    return [_pooled(c, ksize, strides)]


@shape("MaxPoolWithArgmax")
def pool_with_argmax(c: ShapeCall) -> list[Shape]:
    """Maxima and their indices, of one shape."""
    return [_pooled(c, c.attrs["ksize"], c.attrs["strides"])] * 2


@shape("AvgPoolGrad", "AvgPool3DGrad")
def avg_grad(c: ShapeCall) -> list[Shape]:
    """What ``orig_input_shape`` says."""
    return [c.with_rank(c.value_as_shape(0), 5 if "3D" in c.op else 4)]


@shape("MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad", "MaxPoolGradWithArgmax")
def max_grad(c: ShapeCall) -> list[Shape]:
    """The original input's shape."""
    return [c.with_rank(c.shape(0), 5 if "3D" in c.op else 4)]


@shape("MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPool3DGradGrad")
def max_grad_grad(c: ShapeCall) -> list[Shape]:
    """The original output's shape."""
    return [c.with_rank(c.shape(1), 5 if "3D" in c.op else 4)]


@shape("MaxPoolGradGradWithArgmax")
def max_grad_grad_with_argmax(c: ShapeCall) -> list[Shape]:
    """The indices' shape."""
    return [c.with_rank(c.shape(2), 4)]
