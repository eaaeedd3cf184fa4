"""Convolution in full generality: any layout, dilation of both sides, padding, two groupings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels.nn._windows import Window
from drystone_base.kernels.nn.convolution import convolve
from drystone_base.ops.dimension_numbers import ConvDims

__all__ = ["Plan", "dilated_size", "make_plan", "run_plan"]


@dataclass(frozen=True)
class Plan:
    """A checked convolution; all sequences are one entry a spatial dimension."""

    dims: ConvDims
    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    spread: tuple[int, ...]  # of the input
    rates: tuple[int, ...]  # of the kernel
    feature_groups: int
    batch_groups: int

    def input_first(self, x: Array) -> Array:
        """An input as ``[batch, *spatial, feature]``."""
        batch, feature, *spatial = self.dims.input
        return x.transpose(batch, *spatial, feature)

    def kernel_first(self, k: Array) -> Array:
        """A kernel as ``[*spatial, input feature, output feature]``."""
        given, made, *spatial = self.dims.kernel
        return k.transpose(*spatial, given, made)

    def output_back(self, out: Array) -> Array:
        """``[batch, *spatial, feature]`` in the output's own layout."""
        batch, feature, *spatial = self.dims.output
        order = [0] * out.ndim
        for k, place in enumerate((batch, *spatial, feature)):
            order[place] = k
        return out.transpose(order)


def dilated_size(size: int, rate: int) -> int:
    """Elements from the first to the last when ``rate - 1`` holes lie between neighbours."""
    return (size - 1) * rate + 1 if size else 0


def make_plan(
    call: Call,
    shapes: tuple[Sequence[int], Sequence[int]],
    dims: ConvDims,
    *,
    strides: Sequence[int],
    pads: Sequence[tuple[int, int]],
    spread: Sequence[int],
    rates: Sequence[int],
    groups: tuple[int, int],
) -> Plan:
    """The plan, after checking that it fits the shapes of input and kernel."""
    given, kernel = shapes
    rank = len(given)
    call.require(
        rank >= 2 and len(kernel) == rank and dims.fits(rank),
        "dimension_numbers must name every dimension of input and kernel once",
        found=f"{dims} for {list(given)} and {list(kernel)}",
        needed="as many places as dimensions",
    )
    lists: tuple[Sequence[object], ...] = (strides, pads, spread, rates)
    call.require(
        all(len(v) == rank - 2 for v in lists) and min([*strides, *spread, *rates, *groups]) >= 1,
        "strides, paddings and dilations must have a positive entry per spatial dimension",
        found=[list(v) for v in lists],
        needed=f"{rank - 2} entries",
    )  # fmt: skip
    features, batch = given[dims.input[1]], given[dims.input[0]]
    made = kernel[dims.kernel[1]]
    call.require(
        kernel[dims.kernel[0]] * groups[0] == features
        and made % groups[0] == 0
        and made % groups[1] == 0
        and batch % groups[1] == 0,
        "features and batches must divide into their groups",
        found=f"{features} features, kernel {list(kernel)}, batch {batch}, groups {list(groups)}",
        needed="kernel input features x groups = features",
    )
    return Plan(dims, tuple(strides), tuple(pads), tuple(spread), tuple(rates), *groups)


def run_plan(call: Call, plan: Plan, x: Array, kernel: Array) -> Array:
    """The convolution of arrays as :meth:`Plan.input_first` and ``kernel_first`` give them."""
    window = _window(plan, x.shape[1:-1], kernel.shape[:-2])
    batch = x.shape[0] // plan.batch_groups
    check_size(call, (batch, *window.out, kernel.shape[-1]), x.dtype)
    wide = _spread(x, plan, window.spatial)
    if not (math.prod(window.out) and window.taps and kernel.shape[-2] and batch):
        return np.zeros((batch, *window.out, kernel.shape[-1]), x.dtype)
    parts = [
        convolve(a, b, window)
        for a, b in zip(
            np.split(wide, plan.batch_groups),
            np.split(kernel, plan.batch_groups, axis=-1),
            strict=True,
        )
    ]
    return np.concatenate(parts, -1)


def _window(plan: Plan, spatial: Sequence[int], size: Sequence[int]) -> Window:
    """The window over an input that is already spread and padded."""
    full = [
        max(dilated_size(n, rate) + low + high, 0)
        for n, rate, (low, high) in zip(spatial, plan.spread, plan.pads, strict=True)
    ]
    out = [
        max((n - dilated_size(k, rate)) // step + 1, 0)
        for n, k, rate, step in zip(full, size, plan.rates, plan.strides, strict=True)
    ]
    none = (0,) * len(full)
    return Window(tuple(full), tuple(size), plan.strides, plan.rates, none, none, tuple(out))


def _spread(x: Array, plan: Plan, full: Sequence[int]) -> Array:
    """``x`` with holes and padding of zeros; a negative padding cuts away."""
    out = np.zeros((x.shape[0], *full, x.shape[-1]), x.dtype)
    places, kept = [], []
    for n, rate, (low, _), top in zip(x.shape[1:-1], plan.spread, plan.pads, full, strict=True):
        at = np.arange(n) * rate + low
        inside = (at >= 0) & (at < top)
        places.append(at[inside])
        kept.append(np.flatnonzero(inside))
    everything = (np.arange(x.shape[0]), np.arange(x.shape[-1]))
    into = np.ix_(everything[0], *places, everything[1])
    out[into] = x[np.ix_(everything[0], *kept, everything[1])]
    return out
