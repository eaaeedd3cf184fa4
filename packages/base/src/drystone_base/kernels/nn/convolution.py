"""Convolutions in two and three dimensions and their gradients, by matrix products."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.nn._windows import Window, channels_last, from_channels_last, window_of

__all__ = ["convolve"]

_COLUMN_BYTES: Final = 64 << 20


@quiet
def convolve(x: Array, filters: Array, window: Window) -> Array:
    """Cross-correlation of ``[N, *spatial, C]`` with ``[*size, C / groups, D]``: ``[N, *out, D]``.

    Windows are gathered into columns, a block of at most 64 MiB at a time, so that one matrix
    product per block does the work.
    """
    depth, count = filters.shape[-2:]
    groups = max(x.shape[-1] // max(depth, 1), 1)
    parts = filters.reshape(window.taps, depth, groups, count // groups)
    weights = parts.transpose(2, 0, 1, 3).reshape(groups, window.taps * depth, count // groups)
    view = window.view(window.pad(x))
    out = np.empty((x.shape[0], *window.out, count), x.dtype)
    for block in _blocks(window.out, x.shape[0], window.taps * x.shape[-1] * x.itemsize):
        columns = view[block]
        lead = columns.shape[: 1 + len(window.out)]
        if groups == 1:
            product = columns.reshape(-1, weights.shape[1]) @ weights[0]
        else:
            split = columns.reshape(-1, window.taps, groups, depth).transpose(2, 0, 1, 3)
            product = (split.reshape(groups, -1, weights.shape[1]) @ weights).swapaxes(0, 1)
        out[block] = product.reshape(*lead, count)
    return out


def _blocks(out: Sequence[int], batch: int, row_bytes: int) -> Iterator[tuple[slice, slice]]:
    """Slices of the batch, and of the first spatial axis where one example is too large."""
    line = max(row_bytes * math.prod(out[1:]), 1)
    example = line * max(out[0], 1)
    examples = max(_COLUMN_BYTES // example, 1)
    lines = max(min(_COLUMN_BYTES // line, out[0]), 1)
    for n in range(0, batch, examples):
        for r in range(0, out[0], lines):
            yield slice(n, n + examples), slice(r, r + lines)


def _layout(call: Call) -> str:
    return str(call.attrs.get("data_format", "NDHWC"))


def _check_ranks(call: Call, rank: int, **tensors: Array) -> None:
    for name, value in tensors.items():
        call.require(
            value.ndim == rank,
            f"{name} must have the rank of the convolution",
            found=list(value.shape),
            needed=f"rank {rank}",
        )


def _check_channels(call: Call, channels: int, filter_shape: Sequence[int]) -> None:
    depth, count = filter_shape[-2:]
    call.require(
        depth > 0 and channels % depth == 0 and count % max(channels // depth, 1) == 0,
        "input channels must be a multiple of the filter's, and its outputs of the groups",
        found=f"{channels} channels, filter {list(filter_shape)}",
        needed="channels = groups x filter depth",
    )


def _plan(call: Call, spatial: Sequence[int], channels: int, filters: Sequence[int]) -> Window:
    _check_channels(call, channels, filters)
    return window_of(call, spatial, filters[:-2], least=0)


def _check_some_channels(call: Call, channels: int) -> None:
    call.require(
        channels > 0,
        "there must be channels to take a gradient for",
        found=channels,
        needed="1 or more",
    )


def _check_elements(call: Call, x: Array, filters: Array, out: Sequence[int]) -> None:
    """Fail where TensorFlow refuses a filter without elements, or images without channels."""
    is_volume, found = call.op.endswith("Conv3D"), f"{list(x.shape)}, filter {list(filters.shape)}"
    call.require(
        filters.size or not (is_volume or (x.size and 0 not in out)),
        "the filter must have elements",
        found=found,
        needed="no dimension of 0",
    )
    call.require(
        x.shape[1 if _layout(call).startswith("NC") else -1] or not is_volume or 0 in out,
        "the input must have channels",
        found=found,
        needed="1 or more",
    )


def forward(call: Call, x: Array, filters: Array, layout: str) -> Array:
    """``x`` in ``layout`` convolved with ``filters`` as the node's attributes say."""
    source = channels_last(x, layout)
    window = _plan(call, source.shape[1:-1], source.shape[-1], filters.shape)
    dims = check_size(call, (x.shape[0], *window.out, filters.shape[-1]), x.dtype)
    _check_elements(call, x, filters, dims)
    if not (x.size and filters.size):
        return from_channels_last(np.zeros(dims, x.dtype), layout)
    out = convolve(widen(source), widen(filters), window).astype(x.dtype, copy=False)
    return from_channels_last(out, layout)


@kernel("Conv2D", "Conv3D")
def conv(call: Call, x: Array, filters: Array) -> Array:
    """``[N, *spatial, C] * [*size, C / groups, D] -> [N, *out, D]``; TF ``Conv2D``, ``Conv3D``."""
    _check_ranks(call, 5 if call.op.endswith("Conv3D") else 4, input=x, filter=filters)
    return forward(call, x, filters, _layout(call))


@kernel("Conv")
def conv_any(call: Call, x: Array, filters: Array) -> Array:
    """Convolution in two or three dimensions below several batch dimensions; TF ``Conv``."""
    lead = call.attrs["batch_dims"]
    rank = x.ndim - lead + 1
    call.require(
        lead >= 1 and rank in (4, 5) and filters.ndim == rank,
        "Conv takes two or three spatial dimensions and a filter to match",
        found=f"input {list(x.shape)}, filter {list(filters.shape)}, batch_dims {lead}",
        needed="rank batch_dims + 3 or batch_dims + 4",
    )
    batch = x.shape[:lead]
    flat = x.reshape(math.prod(batch), *x.shape[lead:])
    out = forward(call, flat, filters, _layout(call))
    return out.reshape(*batch, *out.shape[1:])


def _dims(call: Call, sizes: Array, rank: int) -> tuple[int, ...]:
    call.require(
        sizes.ndim == 1 and sizes.size == rank,
        "sizes must be a vector with one entry per dimension",
        found=f"shape {list(sizes.shape)}",
        needed=f"[{rank}]",
    )
    return tuple(int(d) for d in sizes)


def _groups(channels: int, depth: int) -> int:
    return max(channels // max(depth, 1), 1)


@kernel("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def conv_backprop_input(call: Call, sizes: Array, filters: Array, dy: Array) -> Array:
    """A convolution's gradient for its input, shaped ``sizes``; TF ``Conv2DBackpropInput``."""
    rank = 4 if call.op.startswith("Conv2D") else 5
    _check_ranks(call, rank, filter=filters, out_backprop=dy)
    layout = _layout(call)
    if sizes.size == rank - 2:  # only the spatial dims, as XLA writes them
        shape = (dy.shape[0], *_dims(call, sizes, rank - 2), filters.shape[-2])
    else:
        shape = _dims(call, sizes, rank)
    check_size(call, shape, dy.dtype)
    return input_gradient(call, shape, filters, dy, layout)


@kernel("Conv2DBackpropInputV2", "Conv3DBackpropInput")
def conv_backprop_input_like(call: Call, x: Array, filters: Array, dy: Array) -> Array:
    """:func:`conv_backprop_input` with the shape of ``x``."""
    _check_ranks(call, x.ndim, filter=filters, out_backprop=dy)
    return input_gradient(call, x.shape, filters, dy, _layout(call))


@quiet
def input_gradient(
    call: Call, shape: tuple[int, ...], filters: Array, dy: Array, layout: str
) -> Array:
    """Each output gradient times each filter element, added at the place that it was read from."""
    grad = channels_last(dy, layout)
    first = layout.startswith("NC")
    spatial, channels = (shape[2:], shape[1]) if first else (shape[1:-1], shape[-1])
    _check_some_channels(call, channels)
    window = _plan(call, spatial, channels, filters.shape)
    _check_gradient(call, grad, (shape[0], *window.out, filters.shape[-1]))
    if not (filters.size and grad.size) or 0 in shape:
        return np.zeros(shape, dy.dtype)
    depth, count = filters.shape[-2:]
    groups = _groups(channels, depth)
    weights = widen(filters).reshape(*window.size, depth, groups, count // groups)
    rows = widen(grad).reshape(-1, groups, count // groups).swapaxes(0, 1)
    total = np.zeros((shape[0], *window.padded, channels), rows.dtype)
    for index, tap in window.each_tap(total):
        part = rows @ weights[index].transpose(1, 2, 0)
        tap += part.swapaxes(0, 1).reshape(tap.shape)
    return from_channels_last(window.crop(total).astype(dy.dtype), layout)


def _check_gradient(call: Call, grad: Array, needed: tuple[int, ...]) -> None:
    call.require(
        grad.shape == needed,
        "out_backprop must have the shape of the convolution's output",
        found=f"{list(grad.shape)} (channels last)",
        needed=list(needed),
    )


@kernel("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def conv_backprop_filter(call: Call, x: Array, sizes: Array, dy: Array) -> Array:
    """A convolution's gradient for its filter, shaped ``sizes``; TF ``Conv2DBackpropFilter``."""
    rank = 4 if call.op.startswith("Conv2D") else 5
    _check_ranks(call, rank, input=x, out_backprop=dy)
    return filter_gradient(call, x, _dims(call, sizes, rank), dy, _layout(call))


@kernel("Conv2DBackpropFilterV2", "Conv3DBackpropFilter")
def conv_backprop_filter_like(call: Call, x: Array, filters: Array, dy: Array) -> Array:
    """:func:`conv_backprop_filter` with the shape of ``filters``."""
    _check_ranks(call, filters.ndim, input=x, out_backprop=dy)
    return filter_gradient(call, x, filters.shape, dy, _layout(call))


@quiet
def filter_gradient(call: Call, x: Array, shape: tuple[int, ...], dy: Array, layout: str) -> Array:
    """For each filter element, what it read times the output gradient, summed over positions."""
    source, grad = channels_last(x, layout), channels_last(dy, layout)
    if call.op.startswith("Conv3D") or 0 not in shape:
        _check_some_channels(call, source.shape[-1])
    window = _plan(call, source.shape[1:-1], source.shape[-1], shape)
    _check_gradient(call, grad, (x.shape[0], *window.out, shape[-1]))
    check_size(call, shape, dy.dtype)
    if not (x.size and grad.size) or 0 in shape:
        return np.zeros(shape, dy.dtype)
    depth, count = shape[-2:]
    groups = _groups(source.shape[-1], depth)
    rows = widen(grad).reshape(-1, groups, count // groups).swapaxes(0, 1)
    out = np.empty((*window.size, depth, groups, count // groups), rows.dtype)
    for index, tap in window.each_tap(window.pad(widen(source))):
        columns = tap.reshape(-1, groups, depth).transpose(1, 2, 0)
        out[index] = (columns @ rows).swapaxes(0, 1)
    return out.reshape(shape).astype(dy.dtype, copy=False)
