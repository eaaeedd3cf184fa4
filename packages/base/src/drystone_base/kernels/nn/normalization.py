"""Batch normalization and local response normalization, with gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.nn._windows import channels_last, from_channels_last

__all__ = ["batch_norm"]


def _source(call: Call, x: Array) -> Array:
    rank = len(call.attrs["data_format"])
    call.require(
        x.ndim == rank,
        "the input must be a batch of images or volumes",
        found=list(x.shape),
        needed=f"rank {rank}",
    )
    return channels_last(x, call.attrs["data_format"])


def _check_vectors(call: Call, channels: int, **vectors: Array) -> None:
    for name, value in vectors.items():
        call.require(
            value.shape == (channels,),
            f"{name} must have one entry per channel",
            found=list(value.shape),
            needed=[channels],
        )


@kernel("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(call: Call, *args: Array) -> tuple[Array, ...]:
    """``(x - mean) / sqrt(variance + epsilon) * scale + offset`` by channel; TF ``FusedBatchNorm``.

    In training the moments are the batch's, and the running ones returned are a mix of both. V3
    returns a scalar zero as its last output.
    """
    outputs = batch_norm(call, *args)
    return (*outputs, np.zeros((), outputs[1].dtype)) if call.op.endswith("V3") else outputs


@quiet
def batch_norm(
    call: Call, x: Array, scale: Array, offset: Array, mean: Array, variance: Array
) -> tuple[Array, ...]:
    """Outputs y, mean, variance and the two reserve spaces of a FusedBatchNorm node."""
    source = widen(_source(call, x))
    _check_vectors(call, source.shape[-1], scale=scale, offset=offset)
    call.require(
        mean.ndim == 1 and variance.ndim == 1,
        "mean and variance must be vectors, if empty ones",
        found=f"{list(mean.shape)} and {list(variance.shape)}",
        needed="rank 1",
    )
    epsilon = source.dtype.type(call.attrs["epsilon"])
    kind = scale.dtype
    if not call.attrs["is_training"]:
        _check_vectors(call, source.shape[-1], mean=mean, variance=variance)
        y = _normalized(source, widen(mean), widen(variance), epsilon, scale, offset)
        moments = (mean, variance, mean, variance)
        return (from_channels_last(y.astype(x.dtype), call.attrs["data_format"]), *moments)
    used_mean, used_variance, unbiased = _moments(source)
    factor = kind.type(call.attrs["exponential_avg_factor"])
    running = _running(call, factor, (mean, variance), (used_mean, unbiased))
    y = _normalized(source, used_mean, used_variance, epsilon, scale, offset)
    reserved = (used_mean.astype(kind), used_variance.astype(kind))
    return (
        from_channels_last(y.astype(x.dtype), call.attrs["data_format"]),
        *(r.astype(kind) for r in running),
        *reserved,
    )


def _moments(source: Array) -> tuple[Array, Array, Array]:
    """Mean, variance and unbiased variance over all dimensions but the last."""
    rows = source.reshape(math.prod(source.shape[:-1]), source.shape[-1])
    if not len(rows):
        empty = np.full(source.shape[-1], np.nan, source.dtype)
        return empty, empty, empty
    mean = rows.mean(0)
    variance = np.square(rows - mean).mean(0)
    correction = source.dtype.type(len(rows) / max(len(rows) - 1, 1))
    return mean, variance, variance * correction


def _running(
    call: Call, factor: Any, old: tuple[Array, Array], new: tuple[Array, Array]
) -> tuple[Array, Array]:
    if float(factor) == 1.0:
        return new
    channels = new[0].shape[0]
    _check_vectors(call, channels, mean=old[0], variance=old[1])
    keep = 1 - factor
    mean, variance = (keep * a + factor * b for a, b in zip(old, new, strict=True))
    return mean, variance


def _normalized(
    x: Array, mean: Array, variance: Array, epsilon: Any, scale: Array, offset: Array
) -> Array:
    factor = widen(scale) / np.sqrt(variance + epsilon)
    out = x - mean
    out *= factor
    out += widen(offset)
    return np.asarray(out)


@kernel("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
@quiet
def fused_batch_norm_grad(
    call: Call, dy: Array, x: Array, scale: Array, mean: Array, variance: Array, *_: Array
) -> tuple[Array, ...]:
    """Gradients for x, scale and offset, then two empty outputs; TF ``FusedBatchNormGrad``.

    ``mean`` and ``variance`` are the forward node's reserve spaces: the batch's moments in
    training, the running ones otherwise.
    """
    source, grad = widen(_source(call, x)), widen(_source(call, dy))
    call.require(
        source.shape == grad.shape, "x and y_backprop must have the same shape",
        found=f"{list(x.shape)} and {list(dy.shape)}", needed="equal shapes",
    )  # fmt: skip
    _check_vectors(call, source.shape[-1], scale=scale, mean=mean, variance=variance)
    rows = tuple(range(source.ndim - 1))
    inverse = 1 / np.sqrt(variance + variance.dtype.type(call.attrs["epsilon"]))
    centered = source - mean
    d_offset = grad.sum(rows)
    d_scale = (grad * centered).sum(rows) * inverse
    if call.attrs["is_training"]:
        count = max(source.size // max(source.shape[-1], 1), 1)
        inner = grad - d_offset / count - centered * (inverse * d_scale / count)
        dx = inner * (scale * inverse)
    else:
        dx = grad * (scale * inverse)
    kind = scale.dtype
    empty = np.zeros(0, kind)
    dx = from_channels_last(dx.astype(x.dtype), call.attrs["data_format"])
    return dx, d_scale.astype(kind), d_offset.astype(kind), empty, empty


@kernel("BatchNormWithGlobalNormalization")
@quiet
def batch_norm_global(call: Call, t: Array, m: Array, v: Array, beta: Array, gamma: Array) -> Array:
    """``(t - m) / sqrt(v + epsilon) [* gamma] + beta``; TF ``BatchNormWithGlobalNormalization``."""
    call.require(t.ndim == 4, "input must have rank 4", found=list(t.shape), needed="rank 4")
    _check_vectors(call, t.shape[-1], m=m, v=v, beta=beta, gamma=gamma)
    factor = 1 / np.sqrt(widen(v) + widen(v).dtype.type(call.attrs["variance_epsilon"]))
    if call.attrs["scale_after_normalization"]:
        factor = factor * widen(gamma)
    out = (widen(t) - widen(m)) * factor + widen(beta)
    return np.asarray(out).astype(t.dtype, copy=False)


def _window_sums(x: Array, radius: int) -> Array:
    """Sums over ``2 * radius + 1`` neighbouring channels, cut off at both ends."""
    depth = x.shape[-1]
    total = np.zeros_like(x)
    for shift in range(-min(radius, depth - 1), min(radius, depth - 1) + 1):
        low, high = max(-shift, 0), min(depth, depth - shift)
        total[..., low:high] += x[..., low + shift : high + shift]
    return total


@kernel("LRN")
@quiet
def lrn(call: Call, x: Array) -> Array:
    """``x / (bias + alpha * sum of squares of near channels) ** beta``; TF ``LRN``."""
    call.require(x.ndim == 4, "input must have rank 4", found=list(x.shape), needed="rank 4")
    wide = widen(x)
    kind, attrs = wide.dtype.type, call.attrs
    norm = kind(attrs["bias"]) + kind(attrs["alpha"]) * _window_sums(
        np.square(wide), attrs["depth_radius"]
    )
    return np.asarray(wide * norm ** kind(-attrs["beta"])).astype(x.dtype, copy=False)


@kernel("LRNGrad")
@quiet
def lrn_grad(call: Call, dy: Array, x: Array, y: Array) -> Array:
    """The gradient of :func:`lrn`; TF ``LRNGrad``."""
    call.require(
        x.ndim == 4 and dy.shape == x.shape == y.shape,
        "all inputs must have one shape of rank 4",
        found=f"{list(dy.shape)}, {list(x.shape)}, {list(y.shape)}",
        needed="equal shapes",
    )
    grad, source, result = widen(dy), widen(x), widen(y)
    kind, attrs = grad.dtype.type, call.attrs
    alpha, beta, radius = kind(attrs["alpha"]), kind(attrs["beta"]), attrs["depth_radius"]
    norm = kind(attrs["bias"]) + alpha * _window_sums(np.square(source), radius)
    spread = _window_sums(grad * result / norm, radius)
    out = grad * norm**-beta - 2 * alpha * beta * source * spread
    return np.asarray(out).astype(x.dtype, copy=False)
