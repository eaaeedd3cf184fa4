"""Fused nodes as TensorFlow's CPU remapper makes them, and ours: a product, and what follows it.

Source: TensorFlow's fused ops; ``Drystone>FusedConvolution`` is our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.linalg.matmul import matmul
from drystone_base.kernels.nn._windows import channels_last, from_channels_last
from drystone_base.kernels.nn.activation import ACTIVATIONS, activate, add_bias
from drystone_base.kernels.nn.convolution import conv
from drystone_base.kernels.nn.depthwise import depthwise_conv
from drystone_base.kernels.nn.normalization import batch_norm
from drystone_base.ops.own import FUSED_CONVOLUTION, QUANTIZED_LAYER

__all__ = ["finish"]

_OURS: Final = ("PRelu", "Swish", "HardSwish", "Mul")


def finish(call: Call, x: Array, args: Sequence[Array]) -> Array:
    """``x`` through each of the node's ``fused_ops``, which take their inputs from ``args``."""
    layout = call.attrs.get("data_format", "NHWC")
    rest = list(args)
    for name in call.attrs["fused_ops"]:
        needed = {"BiasAdd": 1, "Add": 1, "Mul": 1, "PRelu": 1, "FusedBatchNorm": 4}.get(name, 0)
        is_ours = call.op in (FUSED_CONVOLUTION, QUANTIZED_LAYER) and name in _OURS
        is_known = is_ours or name in ("BiasAdd", "Add", "FusedBatchNorm") or name in ACTIVATIONS
        call.require(
            len(rest) >= needed and is_known,
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
        elif is_ours:
            x = _ours(call, name, x, taken, layout)
        else:
            x = activate(name, x, call.attrs["leakyrelu_alpha"])
    return x


@quiet
def _ours(call: Call, name: str, x: Array, args: Sequence[Array], layout: str) -> Array:
    """The steps that TensorFlow has no name for."""
    y = widen(x)
    if name == "Mul":
        y = y * widen(args[0])
    elif name == "PRelu":
        call.require(
            args[0].size == x.shape[1 if layout.startswith("NC") else -1],
            "slopes must have one entry per channel",
            found=list(args[0].shape),
            needed=list(x.shape),
        )
        last = channels_last(y, layout)
        y = from_channels_last(np.where(last > 0, last, last * widen(args[0]).reshape(-1)), layout)
    elif name == "Swish":
        y = y / (1 + np.exp(-y))
    else:
        y = y * (np.clip(y + 3, 0, 6) / 6) * y.dtype.type(call.attrs["hardswish_factor"])
    return y.astype(x.dtype, copy=False)


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
    return finish(call, conv(call, x, filters), args)


@kernel(FUSED_CONVOLUTION)
def fused_convolution(call: Call, x: Array, filters: Array, *args: Array) -> Array:
    """A convolution of images, depthwise or not, and what ``fused_ops`` names; our own op."""
    layer = depthwise_conv if call.attrs["layer"] == "DepthwiseConv2dNative" else conv
    return finish(call, layer(call, x, filters), args)


@kernel("_FusedConv3D")
def fused_conv_3d(call: Call, x: Array, filters: Array, *args: Array) -> Array:
    """``Conv3D`` and what ``fused_ops`` names; TF ``_FusedConv3D``."""
    return finish(call, conv(call, x, filters), args)


@kernel("_FusedDepthwiseConv2dNative")
def fused_depthwise(call: Call, x: Array, filters: Array, *args: Array) -> Array:
    """Depthwise convolution and what ``fused_ops`` names; TF ``_FusedDepthwiseConv2dNative``."""
    return finish(call, depthwise_conv(call, x, filters), args)


@kernel("_FusedMatMul")
def fused_matmul(call: Call, a: Array, b: Array, *args: Array) -> Array:
    """``MatMul`` and what ``fused_ops`` names; TF ``_FusedMatMul``."""
    return finish(call, matmul(call, a, b), args)


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
