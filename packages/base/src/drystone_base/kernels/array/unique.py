"""Ops that find distinct elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone_base.kernels._indices import wrap_axis
from drystone_base.kernels._registry import Array, Call, kernel

__all__: list[str] = []


def _first_places(keys: list[Any]) -> tuple[list[int], list[int]]:
    """Place of each distinct key's first occurrence, and for each key the number of its class."""
    seen: dict[Any, int] = {}
    firsts: list[int] = []
    classes: list[int] = []
    for place, key in enumerate(keys):
        number = seen.setdefault(key, len(seen))
        if number == len(firsts):
            firsts.append(place)
        classes.append(number)
    return firsts, classes


def _keys(x: Array, axis: int) -> list[Any]:
    if x.ndim == 1:
        found: list[Any] = x.tolist()
        return found
    width = math.prod(x.shape) // max(x.shape[axis], 1)
    rows = np.moveaxis(x, axis, 0).reshape(x.shape[axis], width).tolist()
    return [tuple(row) for row in rows]


def _unique(call: Call, x: Array, axis: int) -> tuple[Array, Array, Array]:
    """Distinct slices in order of first occurrence, class of each slice, size of each class."""
    dtype = call.attrs["out_idx"].np
    firsts, classes = _first_places(_keys(x, axis))
    numbers = np.array(classes, dtype)
    counts = np.bincount(numbers, minlength=len(firsts)).astype(dtype)
    return np.take(x, np.array(firsts, np.intp), axis), numbers, counts


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
    without = set(y.tolist())
    places = [k for k, value in enumerate(x.tolist()) if value not in without]
    return x[np.array(places, np.intp)], np.array(places, call.attrs["out_idx"].np)
