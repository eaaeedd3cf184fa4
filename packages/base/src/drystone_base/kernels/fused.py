"""Fused nodes as TensorFlow's CPU remapper makes them: a product, then bias or norm, activation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels._windows import channels_last, from_channels_last
from drystone_base.kernels.activation import ACTIVATIONS, activate, add_bias
from drystone_base.kernels.convolution import conv
from drystone_base.kernels.depthwise import depthwise_conv
from drystone_base.kernels.matmul import matmul
from drystone_base.kernels.normalization import batch_norm

__all__: list[str] = []


def _finish(call: Call, x: Array, args: Sequence[Array]) -> Array:
    """``x`` through each of the node's ``fused_ops``, which take their inputs from ``args``."""
    layout = call.attrs.get("data_format", "NHWC")
    rest = list(args)
    for name in call.attrs["fused_ops"]:
        needed = {"BiasAdd": 1, "Add": 1, "FusedBatchNorm": 4}.get(name, 0)
        call.require(
            len(rest) >= needed and (needed or name in ACTIVATIONS),
            "fused_ops must be known and have their inputs",
            found=f"{name} with {len(rest)} inputs left",
            needed=f"BiasAdd, Add, FusedBatchNorm, {', '.join(sorted(ACTIVATIONS))}",
        )
        taken, rest = rest[:needed], rest[needed:]
        if name == "BiasAdd":
            x = _biased(call, x, taken[0], layout)
        elif name == "Add":
            x = np.add(x, taken[0])
        elif name == "FusedBatchNorm":
            x = _normalized(call, x, taken, layout)
        else:
            x = activate(name, x, call.attrs["leakyrelu_alpha"])
    return x


def _biased(call: Call, x: Array, bias: Array, layout: str) -> Array:
    channels = x.shape[1 if layout.startswith("NC") else -1]
    flat = bias.reshape(-1)
    call.require(
        flat.shape == (channels,),
        "bias must have one entry per channel",
        found=list(bias.shape),
        needed=[channels],
    )
    return add_bias(x, flat, layout)


@quiet
def _normalized(call: Call, x: Array, args: Sequence[Array], layout: str) -> Array:
    """Batch normalization with given moments: ``args`` are scale, offset, mean and variance."""
    scale, offset, mean, variance = (widen(a) for a in args)
    factor = scale / np.sqrt(variance + variance.dtype.type(call.attrs["epsilon"]))
    y = widen(channels_last(x, layout)) * factor + (offset - mean * factor)
    return from_channels_last(y.astype(x.dtype, copy=False), layout)


@kernel("_FusedConv2D")
def fused_conv(call: Call, x: Array, filters: Array, *args: Array) -> Array:
    """``Conv2D`` and what ``fused_ops`` names; TF ``_FusedConv2D``."""
    call.require(
        call.attrs.get("filter_format", "HWIO") == "HWIO",
        "filters must be in HWIO order",
        found=call.attrs.get("filter_format"),
        needed="HWIO",
        status="UNIMPLEMENTED",
    )
    return _finish(call, conv(call, x, filters), args)


@kernel("_FusedConv3D")
def fused_conv_3d(call: Call, x: Array, filters: Array, *args: Array) -> Array:
    """``Conv3D`` and what ``fused_ops`` names; TF ``_FusedConv3D``."""
    return _finish(call, conv(call, x, filters), args)


@kernel("_FusedDepthwiseConv2dNative")
def fused_depthwise(call: Call, x: Array, filters: Array, *args: Array) -> Array:
    """Depthwise convolution and what ``fused_ops`` names; TF ``_FusedDepthwiseConv2dNative``."""
    return _finish(call, depthwise_conv(call, x, filters), args)


@kernel("_FusedMatMul")
def fused_matmul(call: Call, a: Array, b: Array, *args: Array) -> Array:
    """``MatMul`` and what ``fused_ops`` names; TF ``_FusedMatMul``."""
    return _finish(call, matmul(call, a, b), args)


@kernel("_FusedBatchNormEx")
def fused_batch_norm_ex(call: Call, *args: Array) -> tuple[Array, ...]:
    """``FusedBatchNormV3``, plus a side input, then an activation; TF ``_FusedBatchNormEx``."""
    y, *others = batch_norm(call, *args[:5])
    for side in args[5:]:
        y = np.add(y, side)
    mode = call.attrs["activation_mode"]
    if mode != "Identity":
        y = activate(mode, y)
    return (y, *others, np.zeros((), others[0].dtype))
