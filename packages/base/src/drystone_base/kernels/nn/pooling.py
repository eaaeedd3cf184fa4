"""Average and maximum pooling in two and three dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone_base.core.dtypes import from_numpy
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.nn._windows import Window, channels_last, from_channels_last, window_of
from drystone_base.ops.windows import channels_axis, spatial_values

__all__ = ["lowest", "max_pool", "pool_window", "sum_of_windows"]


def lowest(dtype: np.dtype[Any]) -> Any:
    """The smallest finite value of a numeric type: what TensorFlow starts a maximum from."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    if from_numpy(dtype).is_of_numpy:
        return np.finfo(dtype).min
    import ml_dtypes  # opened for those who have its types

    finfo: Any = ml_dtypes.finfo
    return finfo(dtype).min


def pool_window(
    call: Call,
    spatial: Sequence[int],
    ksize: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Window:
    """The window of a pooling node, from its attributes or the given ``ksize`` and ``strides``."""
    layout = call.attrs.get("data_format") or "NHWC"
    size = list(ksize if ksize is not None else call.attrs["ksize"])
    call.require(
        len(size) == len(spatial) + 2 and min(size) > 0,
        "the input must be a batch of images and ksize have one positive entry per dimension",
        found=f"input of {len(spatial) + 2} dimensions, ksize {size}",
        needed="one entry per dimension",
    )
    call.require(
        size[0] == 1 and size[channels_axis(layout)] == 1,
        "pooling over the batch or channel dimension is not supported",
        found=size,
        needed="1 in those dimensions",
        status="UNIMPLEMENTED",
    )
    inner = spatial_values(size, layout)
    return window_of(call, spatial, inner, strides=strides, data_format=layout)


def _source(call: Call, x: Array) -> Array:
    rank = 5 if "3D" in call.op else 4
    call.require(
        x.ndim == rank, "the input's rank must fit", found=list(x.shape), needed=f"rank {rank}"
    )
    return channels_last(x, _layout(call))


def _layout(call: Call) -> str:
    return str(call.attrs.get("data_format") or "NHWC")


@kernel("AvgPool", "AvgPool3D")
@quiet
def avg_pool(call: Call, x: Array) -> Array:
    """The mean of what each window holds, padding left out; TF ``AvgPool``."""
    source = widen(_source(call, x))
    window = pool_window(call, source.shape[1:-1])
    total = sum_of_windows(window, window.pad(source))
    total /= window.coverage().astype(source.dtype)
    return from_channels_last(total.astype(x.dtype, copy=False), _layout(call))


def sum_of_windows(window: Window, padded: Array) -> Array:
    """``[N, *out, C]``, in few steps both for many small windows and for a few large ones."""
    if window.taps > math.prod(window.out):
        rank = len(window.out)
        return np.asarray(window.view(padded).sum(axis=tuple(range(1 + rank, 1 + 2 * rank))))
    total = np.zeros((padded.shape[0], *window.out, padded.shape[-1]), padded.dtype)
    for _, tap in window.each_tap(padded):
        total += tap
    return total


@kernel("AvgPoolGrad", "AvgPool3DGrad")
@quiet
def avg_pool_grad(call: Call, dims: Array, dy: Array) -> Array:
    """The gradient of :func:`avg_pool` for an input of shape ``dims``; TF ``AvgPoolGrad``."""
    grad = widen(_source(call, dy))
    call.require(
        dims.shape == (dy.ndim,), "orig_input_shape must have one entry per dimension",
        found=list(dims.shape), needed=[dy.ndim],
    )  # fmt: skip
    shape = check_size(call, dims.tolist(), dy.dtype)
    spatial = spatial_values(shape, _layout(call))
    window = pool_window(call, spatial)
    _check_gradient(call, grad, (shape[0], *window.out, shape[channels_axis(_layout(call))]))
    share = grad / window.coverage().astype(grad.dtype)
    total = np.zeros((shape[0], *window.padded, grad.shape[-1]), grad.dtype)
    for _, tap in window.each_tap(total):
        tap += share
    return from_channels_last(window.crop(total).astype(dy.dtype), _layout(call))


def _check_gradient(call: Call, grad: Array, needed: tuple[int, ...]) -> None:
    call.require(
        grad.shape == needed,
        "the gradient must have the shape of the pooled output",
        found=f"{list(grad.shape)} (channels last)",
        needed=list(needed),
    )


@kernel("MaxPool", "MaxPoolV2", "MaxPool3D")
@quiet
def max_pool(call: Call, x: Array, *dynamic: Array) -> Array:
    """The maximum of what each window holds; V2 takes ``ksize`` and ``strides`` as inputs."""
    source = _source(call, x)
    ksize, strides = _sizes(call, dynamic)
    if ksize[channels_axis(_layout(call))] > 1:
        return _depth_max(call, source, ksize, strides)
    window = pool_window(call, source.shape[1:-1], ksize, strides)
    start = lowest(x.dtype)
    best = np.full((x.shape[0], *window.out, source.shape[-1]), start, x.dtype)
    for _, tap in window.each_tap(window.pad(source, start)):
        np.maximum(best, tap, out=best)
    return from_channels_last(best, _layout(call))


def _sizes(call: Call, dynamic: Sequence[Array]) -> tuple[list[int], list[int]]:
    if not dynamic:
        return list(call.attrs["ksize"]), list(call.attrs["strides"])
    for name, value in zip(("ksize", "strides"), dynamic, strict=True):
        call.require(
            value.shape == (4,), f"{name} must hold 4 values", found=list(value.shape), needed=[4]
        )
    return [int(v) for v in dynamic[0]], [int(v) for v in dynamic[1]]


def _depth_max(call: Call, x: Array, ksize: Sequence[int], strides: Sequence[int]) -> Array:
    """Maximum over runs of channels: the one form of pooling over channels that TensorFlow has."""
    run = ksize[-1]
    ones = [1] * (x.ndim - 1)
    fits = list(ksize[:-1]) == list(strides[:-1]) == ones and strides[-1] == run
    call.require(
        fits and x.shape[-1] % run == 0,
        "pooling over channels needs windows of channels only that divide them evenly",
        found=f"ksize {list(ksize)}, strides {list(strides)}, {x.shape[-1]} channels",
        needed="equal window and stride in the channel dimension, 1 elsewhere",
        status="UNIMPLEMENTED",
    )
    return np.asarray(x.reshape(*x.shape[:-1], x.shape[-1] // run, run).max(-1))


def _argmax(source: Array, window: Window) -> tuple[Array, Array]:
    """Each window's maximum and its flat index in one example (``[*spatial, C]``); -1 for none."""
    one = source.shape[1:]
    flat = np.arange(math.prod(one), dtype=np.int64).reshape(1, *one)
    where = window.pad(flat, -1)
    shape = (source.shape[0], *window.out, source.shape[-1])
    best, index = np.zeros(shape, source.dtype), np.full(shape, -1, np.int64)
    padded = window.pad(source)
    for at, tap in window.each_tap(padded):
        place = window.tap(where, at)
        better = (place >= 0) & ((index < 0) | (best < tap))
        best = np.where(better, tap, best)
        index = np.where(better, place, index)
    return best, index


def _across_batch(index: Array, source: Array) -> Array:
    """Indices into one example turned into indices into the whole batch."""
    step = math.prod(source.shape[1:])
    starts = np.arange(index.shape[0], dtype=np.int64) * step
    out: Array = index + starts.reshape(-1, *[1] * (index.ndim - 1))
    return out


@kernel("MaxPoolWithArgmax")
@quiet
def max_pool_with_argmax(call: Call, x: Array) -> tuple[Array, Array]:
    """Maxima and their flat indices ``(y * W + x) * C + c``; TF ``MaxPoolWithArgmax``."""
    call.require(x.size, "the input must not be empty", found=list(x.shape))
    source = _source(call, x)
    best, index = _argmax(source, pool_window(call, source.shape[1:-1]))
    if call.attrs["include_batch_in_index"]:
        index = _across_batch(index, source)
    return best, index.astype(call.attrs["Targmax"].np, copy=False)


def _scatter(index: Array, grad: Array, like: Array) -> Array:
    """``grad`` added at flat ``index`` of zeros shaped ``like``."""
    total = np.zeros(like.size, widen(grad).dtype)
    taken = index.reshape(-1) >= 0
    np.add.at(total, index.reshape(-1)[taken], widen(grad).reshape(-1)[taken])
    return total.reshape(like.shape).astype(grad.dtype, copy=False)


@kernel("MaxPool3DGrad")
@quiet
def max_pool_3d_grad(call: Call, x: Array, y: Array, dy: Array) -> Array:
    """The gradient goes to every element that equals its window's maximum; ``MaxPool3DGrad``."""
    source, best, grad = (channels_last(v, _layout(call)) for v in (x, y, dy))
    window = pool_window(call, source.shape[1:-1])
    _check_gradient(call, grad, (x.shape[0], *window.out, source.shape[-1]))
    _check_gradient(call, best, grad.shape)
    inside = window.pad(np.ones((1, *source.shape[1:]), np.int8)) > 0
    padded = window.pad(source)
    total = np.zeros(padded.shape, widen(grad).dtype)
    for at, tap in window.each_tap(padded):
        taken = (tap == best) & window.tap(inside, at)
        window.tap(total, at)[...] += widen(grad) * taken
    return from_channels_last(window.crop(total).astype(dy.dtype), _layout(call))


@kernel("MaxPoolGrad", "MaxPoolGradV2")
@quiet
def max_pool_grad(call: Call, x: Array, y: Array, dy: Array, *dynamic: Array) -> Array:
    """The gradient goes to each window's first maximum; TF ``MaxPoolGrad``."""
    source, grad = _source(call, x), channels_last(dy, _layout(call))
    window = pool_window(call, source.shape[1:-1], *_sizes(call, dynamic))
    _check_gradient(call, grad, (x.shape[0], *window.out, source.shape[-1]))
    _check_gradient(call, channels_last(y, _layout(call)), grad.shape)
    _, index = _argmax(source, window)
    whole = np.where(index < 0, -1, _across_batch(index, source))
    return from_channels_last(_scatter(whole, grad, source), _layout(call))


@kernel("MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPool3DGradGrad")
@quiet
def max_pool_grad_grad(call: Call, x: Array, y: Array, dx: Array, *dynamic: Array) -> Array:
    """What the input's gradient holds at each window's maximum; TF ``MaxPoolGradGrad``."""
    source, grad = _source(call, x), channels_last(dx, _layout(call))
    call.require(
        x.size or call.op != "MaxPool3DGradGrad", "the input must not be empty", found=list(x.shape)
    )
    _check_gradient(call, grad, source.shape)
    window = pool_window(call, source.shape[1:-1], *_sizes(call, dynamic))
    _check_gradient(
        call, channels_last(y, _layout(call)), (x.shape[0], *window.out, source.shape[-1])
    )
    _, index = _argmax(source, window)
    picked = np.asarray(grad.reshape(-1)[_across_batch(index, source)])
    return from_channels_last(picked, _layout(call))


def _given_index(call: Call, x: Array, argmax: Array) -> Array:
    """An ``argmax`` input as flat indices into ``x``, checked."""
    source = _source(call, x)
    window = pool_window(call, source.shape[1:-1])
    _check_gradient(call, argmax, (x.shape[0], *window.out, source.shape[-1]))
    index = argmax.astype(np.int64)
    if not call.attrs["include_batch_in_index"]:
        index = _across_batch(index, source)
    call.require(
        index.size == 0 or (index.min() >= 0 and index.max() < x.size),
        "argmax must point into the input",
        found=f"{index.min() if index.size else 0} to {index.max() if index.size else 0}",
        needed=f"0 to {x.size - 1}",
    )
    return index


@kernel("MaxPoolGradWithArgmax")
@quiet
def max_pool_grad_with_argmax(call: Call, x: Array, dy: Array, argmax: Array) -> Array:
    """The gradient goes where ``argmax`` says; TF ``MaxPoolGradWithArgmax``."""
    index = _given_index(call, x, argmax)
    _check_gradient(call, dy, index.shape)
    return _scatter(index, dy, x)


@kernel("MaxPoolGradGradWithArgmax")
def max_pool_grad_grad_with_argmax(call: Call, x: Array, dx: Array, argmax: Array) -> Array:
    """What the input's gradient holds where ``argmax`` says; TF ``MaxPoolGradGradWithArgmax``."""
    index = _given_index(call, x, argmax)
    _check_gradient(call, dx, x.shape)
    return np.asarray(dx.reshape(-1)[index])
