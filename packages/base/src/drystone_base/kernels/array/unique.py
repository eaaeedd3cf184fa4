"""Ops that find distinct elements."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.kernels._indices import wrap_axis
from drystone_base.kernels._pieces import PIECE
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import widen

__all__: list[str] = []

NUMBERS: Final = "biufc"
"""Kinds of dtypes that NumPy sorts by itself."""


def _classes(x: Array, axis: int) -> tuple[Array, Array]:
    """Place of each distinct slice's first occurrence, and for each slice the number of its class.

    Numbers of a vector are sorted: NumPy lets others run then.
    """
    wide = widen(x)
    return _sorted_classes(wide) if x.ndim == 1 and wide.dtype.kind in NUMBERS else _seen(x, axis)


def _sorted_classes(x: Array) -> tuple[Array, Array]:
    order = np.argsort(x, kind="stable")
    found = x[order]
    begins = np.ones(x.size, bool)
    begins[1:] = found[1:] != found[:-1]  # NaN is no NaN
    firsts = order[begins]
    by_place = np.argsort(firsts)
    renumbered = np.empty(firsts.size, np.intp)
    renumbered[by_place] = np.arange(firsts.size)
    numbers = np.empty(x.size, np.intp)
    numbers[order] = renumbered[begins.astype(np.intp).cumsum() - 1]
    return firsts[by_place], numbers


def _seen(x: Array, axis: int) -> tuple[Array, Array]:
    rows = np.moveaxis(x, axis, 0)
    seen: dict[Any, int] = {}
    numbers = np.empty(len(rows), np.intp)
    firsts = np.empty(len(rows), np.intp)
    for begin in range(0, len(rows), PIECE):
        keys = _keys(rows[begin : begin + PIECE])
        known = len(seen)
        classes = [seen.setdefault(key, len(seen)) for key in keys]
        numbers[begin : begin + len(keys)] = classes
        places: dict[int, int] = {}
        for place, number in enumerate(classes, begin):
            if number >= known:
                places.setdefault(number, place)
        firsts[known : len(seen)] = list(places.values())
    return firsts[: len(seen)], numbers


def _keys(rows: Array) -> list[Any]:
    """The slices of the first dimension, as what can be looked up."""
    if rows.ndim == 1:
        found: list[Any] = rows.tolist()
        return found
    return [tuple(row) for row in rows.reshape(len(rows), math.prod(rows.shape[1:])).tolist()]


def _unique(call: Call, x: Array, axis: int) -> tuple[Array, Array, Array]:
    """Distinct slices in order of first occurrence, class of each slice, size of each class."""
    dtype = call.attrs["out_idx"].np
    firsts, numbers = _classes(x, axis)
    counts = np.bincount(numbers, minlength=len(firsts)).astype(dtype)
    return np.take(x, firsts, axis), numbers.astype(dtype), counts


def _vector(call: Call, x: Array) -> Array:
    call.require(x.ndim == 1, "x must be a vector", found=list(x.shape), needed="rank 1")
    return x


@kernel("Unique")
def unique(call: Call, x: Array) -> tuple[Array, Array]:
    """The distinct elements of a vector in order of first occurrence, and the class of each."""
    return _unique(call, _vector(call, x), 0)[:2]


@kernel("UniqueWithCounts")
def unique_with_counts(call: Call, x: Array) -> tuple[Array, Array, Array]:
    """As ``Unique``, with the number of occurrences."""
    return _unique(call, _vector(call, x), 0)


@kernel("UniqueWithCountsV2")
def unique_with_counts_v2(call: Call, x: Array, axis: Array) -> tuple[Array, Array, Array]:
    """The distinct slices along an axis; an empty ``axis`` asks for a vector's elements."""
    call.require(axis.ndim == 1, "axis must be a vector", found=list(axis.shape), needed="rank 1")
    call.require(
        axis.size <= 1, "axis must hold at most one number", found=axis.size, needed="0 or 1"
    )
    if not axis.size:
        return _unique(call, _vector(call, x), 0)
    return _unique(call, x, wrap_axis(call, int(axis.reshape(-1)[0]), x.ndim))


@kernel("UniqueV2")
def unique_v2(call: Call, x: Array, axis: Array) -> tuple[Array, Array]:
    """As ``UniqueWithCountsV2``, without the counts."""
    values, numbers, _ = unique_with_counts_v2(call, x, axis)
    return values, numbers


@kernel("ListDiff")
def list_diff(call: Call, x: Array, y: Array) -> tuple[Array, Array]:
    """The elements of ``x`` that ``y`` lacks, in order, and their places."""
    _vector(call, x), _vector(call, y)
    places = np.flatnonzero(~_is_in(x, y))
    return x[places], places.astype(call.attrs["out_idx"].np)


def _is_in(x: Array, y: Array) -> Array:
    """Which elements of ``x`` are in ``y``; NaN never is."""
    wide = widen(x)
    if wide.dtype.kind in NUMBERS:
        return np.isin(wide, widen(y), kind="sort")
    known: set[Any] = set()
    for begin in range(0, y.size, PIECE):
        known.update(y[begin : begin + PIECE].tolist())
    out = np.empty(x.size, bool)
    for begin in range(0, x.size, PIECE):
        piece = x[begin : begin + PIECE].tolist()
        out[begin : begin + len(piece)] = [value in known for value in piece]
    return out
