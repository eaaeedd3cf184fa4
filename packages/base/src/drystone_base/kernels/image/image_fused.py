"""Resizing, mirrored borders and convolution in one node; the norm of old graphs.

Source: TensorFlow ops FusedResizeAndPadConv2D, FusedPadConv2D,
BatchNormWithGlobalNormalizationGrad. For batches of several images, and for steps over rows beyond
the filter, TensorFlow's fused convolutions read other rows than they should; ours give what the
plain ops give.
"""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.array.padding import mirror_pad
from drystone_base.kernels.image.image import resize_bilinear
from drystone_base.kernels.nn._windows import window_of
from drystone_base.kernels.nn.convolution import convolve

__all__: list[str] = []


def _with_attrs(call: Call, **more: object) -> Call:
    """The node with attributes of the plain op that does a part of its work."""
    attrs = {**call.attrs, **more}
    return Call(call.node, call.op, attrs, call.runtime, call.input_slices, 1, call.device)


def _pad_and_convolve(call: Call, x: Array, paddings: Array, filters: Array) -> Array:
    padded = mirror_pad(call, x, paddings)
    call.require(
        not paddings[::3].any(),
        "only rows and columns can be padded",
        found=paddings.tolist(),
        needed="0 for batch and channels",
    )
    call.require(
        filters.ndim == 4 and filters.shape[2] == padded.shape[3] and filters.shape[3] > 0,
        "filter must have the depth of the images, and give channels",
        found=f"{list(padded.shape)} and {list(filters.shape)}",
        needed="[h, w, C, out]",
    )
    window = window_of(call, padded.shape[1:3], filters.shape[:2], data_format="NHWC")
    return convolve(widen(padded), widen(filters), window).astype(x.dtype, copy=False)


def _check_image(call: Call, x: Array) -> None:
    call.require(x.ndim == 4 and x.size > 0, "input must be images", found=list(x.shape))


@kernel("FusedPadConv2D")
@quiet
def fused_pad_conv(call: Call, x: Array, paddings: Array, filters: Array) -> Array:
    """``MirrorPad`` and ``Conv2D``."""
    _check_image(call, x)
    return _pad_and_convolve(call, x, paddings, filters)


@kernel("FusedResizeAndPadConv2D")
@quiet
def fused_resize_pad_conv(
    call: Call, x: Array, size: Array, paddings: Array, filters: Array
) -> Array:
    """``ResizeBilinear``, ``MirrorPad`` and ``Conv2D``."""
    _check_image(call, x)
    corners = _with_attrs(call, align_corners=call.attrs["resize_align_corners"])
    resized = resize_bilinear(corners, x, size).astype(x.dtype)
    return _pad_and_convolve(call, resized, paddings, filters)


@kernel("BatchNormWithGlobalNormalizationGrad")
@quiet
def batch_norm_global_grad(
    call: Call, t: Array, m: Array, v: Array, gamma: Array, grad: Array
) -> tuple[Array, ...]:
    """Gradients of input, mean, variance, offset and scale."""
    call.require(
        t.ndim == 4 and grad.ndim == 4 and m.ndim == v.ndim == gamma.ndim == 1,
        "input and gradient must have rank 4, mean, variance and gamma rank 1",
        found=[list(a.shape) for a in (t, m, v, gamma, grad)],
    )
    wide, given, mean = widen(t), widen(grad), widen(m)
    axes = (0, 1, 2)
    root = 1 / np.sqrt(widen(v) + wide.dtype.type(call.attrs["variance_epsilon"]))
    scaled = root * widen(gamma) if call.attrs["scale_after_normalization"] else root
    moved = (given * (wide - mean)).sum(axes)
    plain = given.sum(axes)
    half = wide.dtype.type(-0.5)
    gain = scaled / root if call.attrs["scale_after_normalization"] else np.ones_like(root)
    by_variance = half * moved * gain * root**3
    by_scale = moved * root if call.attrs["scale_after_normalization"] else np.zeros_like(root)
    found = (given * scaled, -plain * scaled, by_variance, plain, by_scale)
    return tuple(np.asarray(a).astype(t.dtype, copy=False) for a in found)
