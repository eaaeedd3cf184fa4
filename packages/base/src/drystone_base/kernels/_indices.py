"""Checks that several op families share: axes, index ranges, vectors of ints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone_base.kernels._registry import Array, Call

__all__ = [
    "at",
    "bad_rows",
    "check_below",
    "int_vector",
    "is_rising",
    "only_scalar_int",
    "scalar_int",
    "wrap_axis",
]


def at(x: Array, *index: Any) -> Array:
    """``x[index]``, an array even where no dimension is left (objects would come out bare)."""
    place: Any = (*index, ...)
    out: Array = x[place]
    return out


def wrap_axis(call: Call, axis: int, rank: int, what: str = "axis") -> int:
    """``axis`` counted from the front; fails unless it lies in ``[-rank, rank)``."""
    if not -rank <= axis < rank:
        call.fail(
            f"{what} must be a dimension of the tensor",
            found=axis,
            needed=f"a value in [{-rank}, {rank})",
        )
    return axis + rank if axis < 0 else axis


def scalar_int(call: Call, value: Array, what: str) -> int:
    """The one element of ``value`` as an int; fails unless there is exactly one."""
    call.require(
        value.size == 1, f"{what} must be a scalar", found=list(value.shape), needed="one element"
    )
    return int(value.reshape(-1)[0])


def only_scalar_int(call: Call, value: Array, what: str) -> int:
    """As :func:`scalar_int` for ops that take no vector of one element."""
    call.require(
        value.ndim == 0, f"{what} must be a scalar", found=list(value.shape), needed="rank 0"
    )
    return int(value)


def int_vector(call: Call, value: Array, what: str) -> tuple[int, ...]:
    """The elements of a vector as ints; fails for another rank."""
    call.require(
        value.ndim == 1, f"{what} must be a vector", found=list(value.shape), needed="rank 1"
    )
    return tuple(value.tolist())


def is_rising(values: Array) -> bool:
    """Whether no number of a vector is below the one before; differences might wrap around."""
    return bool((values[1:] >= values[:-1]).all())


def check_below(call: Call, indices: Array, limit: int, what: str = "indices") -> None:
    """Fail unless every index lies in ``[0, limit)``; the text says position and value."""
    if not indices.size or (int(indices.min()) >= 0 and int(indices.max()) < limit):
        return
    place = np.argwhere((indices < 0) | (indices >= limit))[0].tolist()
    call.fail(
        f"{what} must lie inside the dimension that they index",
        found=f"{what}{place if place else ''} = {indices[tuple(place)]}",
        needed=f"a value in [0, {limit})",
    )


def bad_rows(
    call: Call, indices: Array, limits: Sequence[int], *, ignore: bool = False
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows of ``indices`` [..., K] point outside ``limits``.

    Fails at the first one unless ``ignore``.
    """
    wide = indices.astype(np.int64, copy=False)
    bad = np.asarray(((wide < 0) | (wide >= np.array(limits, np.int64))).any(axis=-1))
    if bad.any() and not ignore:
        place = np.argwhere(bad)[0].tolist()
        call.fail(
            "indices must lie inside the tensor that they index",
            found=f"indices{place if place else ''} = {wide[tuple(place)].tolist()}",
            needed=f"each in [0, d) for the dimensions {list(limits)}",
        )
    return bad
