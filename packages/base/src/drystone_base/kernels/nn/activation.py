"""Activations, their gradients, softmax, and bias addition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.math.special import erf
from drystone_base.ops.own import GELUS
from drystone_base.ops.windows import channels_axis

__all__ = ["ACTIVATIONS", "activate", "add_bias", "log_softmax"]

_SELU_ALPHA: Final = 1.6732632423543772
_SELU_SCALE: Final = 1.0507009873554805


def _check_same(call: Call, a: Array, b: Array) -> None:
    call.require(
        a.shape == b.shape,
        "both inputs must have the same shape",
        found=f"{list(a.shape)} and {list(b.shape)}",
        needed="equal shapes",
    )


def _selu(x: Array) -> Array:
    kind = x.dtype.type
    negative = kind(_SELU_SCALE * _SELU_ALPHA) * np.expm1(x)
    return np.asarray(np.where(x < 0, negative, kind(_SELU_SCALE) * x))


def _gelu_exact(x: Array) -> Array:
    wide = x.astype(np.float64)
    return np.asarray(wide * 0.5 * (1 + erf(wide / math.sqrt(2)))).astype(x.dtype)


def _gelu(x: Array) -> Array:
    """The approximation by tanh."""
    kind = x.dtype.type
    inner = kind(math.sqrt(2 / math.pi)) * (x + kind(0.044715) * x**3)
    return np.asarray(x * (np.tanh(inner) + 1) * kind(0.5))


ACTIVATIONS: Final[dict[str, Callable[[Array], Array]]] = {
    "Relu": lambda x: np.maximum(x, 0),
    "Relu6": lambda x: np.minimum(np.maximum(x, 0), x.dtype.type(6)),
    "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "Selu": _selu,
    "Softplus": lambda x: np.logaddexp(x, x.dtype.type(0)),
    "Softsign": lambda x: x / (np.abs(x) + 1),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Tanh": np.tanh,
    "GeluExact": _gelu_exact,
    "GeluApproximate": _gelu,
    "LeakyRelu": lambda x: _leaky(x, 0.2),
}
"""Element by element, in the type given. ``LeakyRelu`` has the op's default slope."""


@quiet
def activate(name: str, x: Array, alpha: float = 0.2) -> Array:
    """``x`` through the activation called ``name``; ``alpha`` is the slope of ``LeakyRelu``."""
    wide = widen(x)
    out = _leaky(wide, alpha) if name == "LeakyRelu" else ACTIVATIONS[name](wide)
    return np.asarray(out).astype(x.dtype, copy=False)


def _leaky(x: Array, alpha: float) -> Array:
    return np.where(x > 0, x, x * x.dtype.type(alpha))


@kernel("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign")
def activation(call: Call, x: Array) -> Array:
    """Element by element, any shape; TF ``Relu``, ``Relu6``, ``LeakyRelu``, ``Elu``, ..."""
    return activate(call.op, x, call.attrs.get("alpha", 0.2))


@kernel(*GELUS)
def gelu(call: Call, x: Array) -> Array:
    """Element by element, any shape; our own ops, named as in ``fused_ops`` of TF."""
    return activate(call.op.removeprefix("Drystone>"), x)


@kernel("ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad")
@quiet
def feature_grad(call: Call, gradients: Array, features: Array) -> Array:
    """The gradient at ``features``; TF ``ReluGrad``, ``Relu6Grad``, ``LeakyReluGrad``, ..."""
    _check_same(call, gradients, features)
    dy, x = widen(gradients), widen(features)
    match call.op:
        case "ReluGrad":
            out = dy * (x > 0).astype(dy.dtype)  # NaN stays NaN
        case "Relu6Grad":
            out = dy * ((x > 0) & (x < 6)).astype(dy.dtype)
        case "LeakyReluGrad":
            out = np.where(x > 0, dy, dy * dy.dtype.type(call.attrs["alpha"]))
        case "SoftplusGrad":
            out = dy / (np.exp(-x) + 1)
        case _:
            out = dy / np.square(np.abs(x) + 1)
    return np.asarray(out).astype(gradients.dtype, copy=False)


@kernel("EluGrad", "SeluGrad")
@quiet
def output_grad(call: Call, gradients: Array, outputs: Array) -> Array:
    """The gradient where the activation gave ``outputs``; TF ``EluGrad``, ``SeluGrad``."""
    _check_same(call, gradients, outputs)
    dy, y = widen(gradients), widen(outputs)
    kind = dy.dtype.type
    if call.op == "EluGrad":
        out = np.where(y < 0, (y + 1) * dy, dy)
    else:
        scale, alpha = kind(_SELU_SCALE), kind(_SELU_SCALE * _SELU_ALPHA)
        out = np.where(y < 0, dy * (y + alpha), dy * scale)
    return np.asarray(out).astype(gradients.dtype, copy=False)


@quiet
def log_softmax(x: Array) -> Array:
    """``x - log(sum(exp(x)))`` over the last dimension, in the type of ``x``."""
    shifted = x - x.max(-1, keepdims=True) if x.size else x
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


@kernel("Softmax", "LogSoftmax")
@quiet
def softmax(call: Call, logits: Array) -> Array:
    """Over the last dimension of ``[..., classes]``; TF ``Softmax``, ``LogSoftmax``."""
    call.require(
        logits.ndim >= 1,
        "logits must be a vector or more",
        found="a scalar",
        needed="rank 1 or more",
    )
    x = widen(logits)
    if call.op == "LogSoftmax":
        out = log_softmax(x)
    else:
        powers = np.exp(x - x.max(-1, keepdims=True)) if x.size else x
        out = powers / powers.sum(-1, keepdims=True)
    return out.astype(logits.dtype, copy=False)


@quiet
def add_bias(x: Array, bias: Array, data_format: str) -> Array:
    """``bias`` added along the channels of ``x``."""
    if channels_axis(data_format) == 1 and x.ndim > 2:
        bias = bias.reshape(-1, *[1] * (x.ndim - 2))
    return np.asarray(x + bias)


@kernel("BiasAdd", "BiasAddV1")
def bias_add(call: Call, value: Array, bias: Array) -> Array:
    """``value + bias`` with ``bias`` (``[C]``) along the channels; TF ``BiasAdd``."""
    layout = call.attrs.get("data_format", "NHWC")
    call.require(
        value.ndim >= 2 and bias.ndim == 1,
        "value must have rank 2 or more and bias be a vector",
        found=f"{list(value.shape)} and {list(bias.shape)}",
        needed="[..., C] and [C]",
    )
    call.require(
        value.shape[channels_axis(layout)] == bias.shape[0],
        "bias must have one entry per channel",
        found=f"{bias.shape[0]} entries for {list(value.shape)} ({layout})",
        needed=value.shape[channels_axis(layout)],
    )
    return add_bias(value, bias, layout)


@kernel("BiasAddGrad")
@quiet
def bias_add_grad(call: Call, dy: Array) -> Array:
    """The sum over all dimensions but the channels; TF ``BiasAddGrad``."""
    call.require(
        dy.ndim >= 2, "out_backprop must have rank 2 or more", found=list(dy.shape), needed="rank 2"
    )
    axis = channels_axis(call.attrs["data_format"]) % dy.ndim
    others = tuple(a for a in range(dy.ndim) if a != axis)
    wide = widen(dy)
    return np.asarray(wide.sum(others, dtype=wide.dtype)).astype(dy.dtype, copy=False)
