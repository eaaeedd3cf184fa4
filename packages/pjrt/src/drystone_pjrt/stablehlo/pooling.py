"""Pooling: the largest element or the mean of windows."""

from __future__ import annotations

import numpy as np

from drystone_pjrt.stablehlo.convolutions import rows
from drystone_pjrt.stablehlo.layouts import pads, spatial, spatial_axes
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.reductions import extreme, widened
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer, integers

__all__: list[str] = []


class _Windows:
    """Windows over the first input: sizes, steps and what is added, for every dimension."""

    def __init__(self, s: Site) -> None:
        x, axes = s.inputs[0], spatial_axes(s)
        window, steps = spatial(s, "ksize"), spatial(s, "strides")
        around = pads(s, window, steps, [1] * len(axes))
        rank = len(x.shape)
        self.sizes, self.steps, self.pads = [1] * rank, [1] * rank, [(0, 0)] * rank
        for k, axis in enumerate(axes):
            self.sizes[axis], self.steps[axis], self.pads[axis] = window[k], steps[k], around[k]
        self.shape = tuple(
            (size + sum(self.pads[k]) - self.sizes[k]) // self.steps[k] + 1
            for k, size in enumerate(x.shape)
        )
        if 0 in x.shape or min(self.shape) <= 0:
            raise Refused("it has no elements")

    def reduced(self, w: Writer, value: Value, function: str, start: object) -> Value:
        """One function of each window."""
        attrs = (
            f"window_dimensions = {integers(self.sizes)}, "
            f"window_strides = {integers(self.steps)}, padding = {rows(self.pads)}"
        )
        region, first = w.region(function, value.dtype), w.scalar(start, value.dtype)
        return w.op(
            "stablehlo.reduce_window", [value, first], self.shape, attrs=attrs, region=region
        )

    def counts(self, shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        """How many elements of the input each window has, with a 1 for what all have alike."""
        found = np.ones([1] * len(shape), np.int64)
        for k, size in enumerate(shape):
            if self.sizes[k] > 1 or self.steps[k] > 1:
                begin = np.arange(self.shape[k]) * self.steps[k] - self.pads[k][0]
                count = np.minimum(begin + self.sizes[k], size) - np.maximum(begin, 0)
                found = found * count.reshape([-1 if j == k else 1 for j in range(len(shape))])
        return found


@emits("MaxPool", "MaxPool3D")
def max_pool(w: Writer, s: Site) -> Value:
    """The largest element of each window."""
    x = s.inputs[0]
    return _Windows(s).reduced(w, x, "stablehlo.maximum", extreme(x.dtype, lowest=True))


@emits("AvgPool", "AvgPool3D")
def average_pool(w: Writer, s: Site) -> Value:
    """The mean of each window, of elements that are in the input."""
    windows, x = _Windows(s), widened(w, s.inputs[0])
    total = windows.reduced(w, x, "stablehlo.add", 0)
    counts = w.named(w.known(windows.counts(x.shape).astype(x.dtype)))
    made = w.same("stablehlo.divide", total, w.broadcast(counts, total.shape, range(len(x.shape))))
    return w.convert(made, s.inputs[0].dtype)
