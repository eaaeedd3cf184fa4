"""Resizing and mirrored borders fused into a convolution.

Source: TensorFlow ops FusedPadConv2D, FusedResizeAndPadConv2D.
"""

from __future__ import annotations

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.convolution import conv
from drystone_base.kernels.image import resize_bilinear
from drystone_base.kernels.padding import mirror_pad


def _as(call: Call, op: str, **attrs: object) -> Call:
    """The same node as another op with other attributes."""
    return Call(call.node, op, attrs, call.runtime, device=call.device)


@kernel("FusedPadConv2D")
def fused_pad_conv(call: Call, x: Array, paddings: Array, filters: Array) -> Array:
    """``Conv2D`` of the image with a mirrored border."""
    a = call.attrs
    padded = mirror_pad(_as(call, "MirrorPad", mode=a["mode"]), x, paddings)
    plain = {"data_format": "NHWC", "dilations": [1, 1, 1, 1], "explicit_paddings": []}
    inner = _as(call, "Conv2D", strides=a["strides"], padding=a["padding"], **plain)
    out: Array = conv(inner, padded, filters)
    return out


@kernel("FusedResizeAndPadConv2D")
def fused_resize_pad_conv(
    call: Call, x: Array, size: Array, paddings: Array, filters: Array
) -> Array:
    """``Conv2D`` of the image resized between pixels and with a mirrored border."""
    corners = bool(call.attrs["resize_align_corners"])
    inner = _as(call, "ResizeBilinear", align_corners=corners, half_pixel_centers=False)
    resized: Array = resize_bilinear(inner, x, size)
    out: Array = fused_pad_conv(call, resized.astype(x.dtype, copy=False), paddings, filters)
    return out
