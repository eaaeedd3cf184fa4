"""Grayscale dilation and its gradients."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.nn._windows import Window, window_of
from drystone_base.kernels.nn.pooling import lowest

__all__: list[str] = []


def _plan(call: Call, x: Array, filters: Array) -> Window:
    call.require(
        x.ndim == 4 and filters.ndim == 3 and x.shape[3] == filters.shape[2],
        "input must be [N, H, W, C] and the filter [rows, columns, C]",
        found=f"{list(x.shape)} and {list(filters.shape)}",
        needed="equal channels",
    )
    window = window_of(call, x.shape[1:3], filters.shape[:2], data_format="NHWC")
    check_size(call, (x.shape[0], *window.out, x.shape[3]), x.dtype)
    return window


def _best(x: Array, filters: Array, window: Window) -> tuple[Array, Array]:
    """The maximum at every position, and which filter element it came from first; -1 for none."""
    inside = window.pad(np.ones((1, *x.shape[1:3], 1), np.bool_), False)
    out = np.full((x.shape[0], *window.out, x.shape[3]), lowest(x.dtype), x.dtype)
    source = np.full(out.shape, -1, np.int64)
    for number, (index, tap) in enumerate(window.each_tap(window.pad(x))):
        raised = tap + filters[index]
        better = window.tap(inside, index) & (raised > out)
        out, source = np.where(better, raised, out), np.where(better, number, source)
    return out, source


@kernel("Dilation2D")
@quiet
def dilation(call: Call, x: Array, filters: Array) -> Array:
    """The maximum of input plus filter (``[rows, columns, C]``) over windows; TF ``Dilation2D``."""
    return _best(x, filters, _plan(call, x, filters))[0]


@kernel("Dilation2DBackpropInput", "Dilation2DBackpropFilter")
@quiet
def dilation_grad(call: Call, x: Array, filters: Array, dy: Array) -> Array:
    """The gradient goes to the pixel, or the filter element, that made the maximum."""
    window = _plan(call, x, filters)
    _, source = _best(x, filters, window)
    call.require(
        dy.shape == source.shape, "out_backprop must have the shape of the output",
        found=list(dy.shape), needed=list(source.shape),
    )  # fmt: skip
    grad = widen(dy)
    if call.op == "Dilation2DBackpropFilter":
        return _to_filter(filters, source, grad, window).astype(dy.dtype, copy=False)
    padded = np.zeros((x.shape[0], *window.padded, x.shape[3]), grad.dtype)
    for number, (_, tap) in enumerate(window.each_tap(padded)):
        tap += np.where(source == number, grad, 0)
    out = window.crop(padded)
    _to_corners(out, np.where(source < 0, grad, 0), window)
    return out.astype(dy.dtype, copy=False)


def _to_filter(filters: Array, source: Array, grad: Array, window: Window) -> Array:
    """The gradient by the filter; what no element reached counts for the first one."""
    total = np.zeros(filters.shape, grad.dtype)
    for number, index in enumerate(np.ndindex(*window.size)):
        total[index] = np.where(np.maximum(source, 0) == number, grad, 0).sum((0, 1, 2))
    return total


def _to_corners(out: Array, grad: Array, window: Window) -> None:
    """Adds gradients to the pixel where each window begins, within the image."""
    rows, columns = (
        np.maximum(np.arange(count) * step - before, 0)
        for count, step, before in zip(window.out, window.strides, window.before, strict=True)
    )
    rows, columns = rows[rows < window.spatial[0]], columns[columns < window.spatial[1]]
    images = np.arange(len(out))[:, None, None]
    inside = grad[:, : len(rows), : len(columns)]  # both rise
    np.add.at(out, (images, rows[:, None], columns), inside)
