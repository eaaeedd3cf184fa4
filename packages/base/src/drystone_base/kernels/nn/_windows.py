"""Sliding windows over channels-last arrays: one geometry for convolution, pooling and patches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call
from drystone_base.ops.windows import (
    channels_axis,
    explicit_pairs,
    slide,
    spatial_axes,
    spatial_values,
)

__all__ = ["Window", "channels_last", "from_channels_last", "window_of"]


@dataclass(frozen=True)
class Window:
    """A window of ``size`` moving over an input of ``spatial`` dims; all tuples are per axis."""

    spatial: tuple[int, ...]
    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def padded(self) -> tuple[int, ...]:
        """Spatial dims with the padding."""
        return tuple(map(sum, zip(self.spatial, self.before, self.after, strict=True)))

    @property
    def taps(self) -> int:
        """Elements that a window covers, per channel."""
        return math.prod(self.size)

    def pad(self, x: Array, fill: Any = 0) -> Array:
        """``x`` (``[N, *spatial, C]``) with ``fill`` around it, or itself without padding."""
        if not any(self.before) and not any(self.after):
            return x
        out = np.full((x.shape[0], *self.padded, x.shape[-1]), fill, x.dtype)
        out[self._inside()] = x
        return out

    def crop(self, padded: Array) -> Array:
        """The part of a padded array that is not padding."""
        return padded[self._inside()]

    def _inside(self) -> tuple[slice, ...]:
        pairs = zip(self.before, self.spatial, strict=True)
        return (slice(None), *(slice(b, b + n) for b, n in pairs))

    def tap(self, padded: Array, index: Sequence[int]) -> Array:
        """A view ``[N, *out, C]`` of what every window holds at its element ``index``."""
        steps = zip(index, self.dilations, self.strides, self.out, strict=True)
        cuts = (slice(k * d, k * d + max((n - 1) * s + 1, 0), s) for k, d, s, n in steps)
        return padded[(slice(None), *cuts)]

    def each_tap(self, padded: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Every element of the window with its :meth:`tap`, in row-major order."""
        for index in np.ndindex(*self.size):
            yield index, self.tap(padded, index)

    def view(self, padded: Array) -> Array:
        """A read-only view ``[N, *out, *size, C]`` of all windows."""
        step = padded.strides[1:-1]
        moves = (b * s for b, s in zip(step, self.strides, strict=True))
        inner = (b * d for b, d in zip(step, self.dilations, strict=True))
        return np.lib.stride_tricks.as_strided(
            padded,
            (padded.shape[0], *self.out, *self.size, padded.shape[-1]),
            (padded.strides[0], *moves, *inner, padded.strides[-1]),
            writeable=False,
        )

    def coverage(self) -> Array:
        """``[*out, 1]`` float64: how many elements of each window lie outside the padding."""
        counts = np.ones(())
        for axis, n in enumerate(self.out):
            starts = np.arange(n) * self.strides[axis] - self.before[axis]
            reach = starts[:, None] + np.arange(self.size[axis]) * self.dilations[axis]
            inside = ((reach >= 0) & (reach < self.spatial[axis])).sum(1).astype(np.float64)
            counts = counts[..., None] * inside
        return np.asarray(counts[..., None])


def channels_last(x: Array, data_format: str) -> Array:
    """``x`` with its channels in the last dimension."""
    return np.moveaxis(x, 1, -1) if channels_axis(data_format) == 1 else x


def from_channels_last(x: Array, data_format: str) -> Array:
    """The inverse of :func:`channels_last`."""
    if channels_axis(data_format) == 1:
        return np.ascontiguousarray(np.moveaxis(x, -1, 1))
    return x


def window_of(
    call: Call,
    spatial: Sequence[int],
    size: Sequence[int],
    *,
    strides: Sequence[int] | None = None,
    data_format: str | None = None,
    least: int = 1,
) -> Window:
    """The window that a node's ``strides``, ``dilations`` and ``padding`` describe.

    ``strides`` replaces the attribute where the op takes strides as an input (per dimension).
    ``least`` is how small a window may be: a filter may have no elements, a pool may not.
    """
    attrs = call.attrs
    layout = data_format or attrs.get("data_format") or ""
    steps = list(strides if strides is not None else attrs["strides"])
    rates = attrs.get("dilations") or attrs.get("rates") or [1] * len(steps)
    rank = len(spatial) + 2
    _check_lengths(call, rank, strides=steps, dilations=rates)
    _check_outer(call, steps, rates, layout)
    moves, spread = spatial_values(steps, layout), spatial_values(rates, layout)
    call.require(
        min(*moves, *spread) > 0 and min(size) >= least,
        "windows, strides and dilations must be positive",
        found=f"window {list(size)}, strides {moves}, dilations {spread}",
        needed="1 or more" if least else "1 or more, windows 0 or more",
    )
    pairs = _explicit(call, rank, layout) or [attrs["padding"]] * len(spatial)
    rows = zip(spatial, size, moves, spread, pairs, strict=True)
    placed = [slide(*row) for row in rows]
    call.require(
        all(count >= 0 for count, _, _ in placed),
        "computed output size would be negative",
        found=f"window {list(size)} (dilated by {list(spread)}) over {list(spatial)}",
        needed="a window that fits the padded input",
    )
    out, before, after = (tuple(column) for column in zip(*placed, strict=True))
    return Window(tuple(spatial), tuple(size), moves, spread, before, after, out)


def _check_lengths(call: Call, rank: int, **lists: Sequence[int]) -> None:
    for name, values in lists.items():
        call.require(
            len(values) == rank,
            f"{name} must have one entry per dimension",
            found=list(values),
            needed=f"{rank} entries",
        )


def _check_outer(call: Call, strides: Sequence[int], rates: Sequence[int], layout: str) -> None:
    outer = set(range(len(strides))) - set(spatial_axes(layout, len(strides)))
    call.require(
        all(strides[a] == 1 and rates[a] == 1 for a in outer),
        "strides and dilations in the batch and channel dimensions must be 1",
        found=f"strides {list(strides)}, dilations {list(rates)}",
        needed="1",
        status="INVALID_ARGUMENT",
    )


def _explicit(call: Call, rank: int, layout: str) -> Sequence[tuple[int, int]] | None:
    given = call.attrs.get("explicit_paddings") or []
    if call.attrs["padding"] != "EXPLICIT":
        call.require(not given, "explicit_paddings needs padding EXPLICIT", found=list(given))
        return None
    call.require(
        len(given) == 2 * rank and min(given) >= 0,
        "explicit_paddings must hold a pair per dimension, none negative",
        found=list(given),
        needed=f"{2 * rank} values of 0 or more",
    )
    return explicit_pairs(call.attrs, layout)
