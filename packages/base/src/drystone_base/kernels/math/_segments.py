"""Folding the rows of a tensor that carry the same segment id."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array

__all__ = ["fold_rows", "segment_sizes"]

_PIECE: Final = 1 << 20
"""Elements that are folded in one go, whole segments: NumPy keeps the interpreter's lock then."""


def fold_rows(function: np.ufunc, rows: Array, ids: Array, count: int, fill: Any) -> Array:
    """Rows [n, ...] folded by id [n] into [count, ...]; ``fill`` where an id does not occur.

    Ids lie in ``[0, count)``, in any order; rows of one id are folded in the order given.
    """
    out = np.full((count, *rows.shape[1:]), fill, rows.dtype)
    if not ids.size:
        return out
    if (np.diff(ids) < 0).any():
        order = np.argsort(ids, kind="stable")
        rows, ids = rows[order], ids[order]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(ids) != 0]))
    found, ends = ids[starts], np.append(starts[1:], len(rows))
    most = max(1, _PIECE // max(1, rows[0].size))
    first = 0
    while first < len(starts):
        begin = starts[first]
        last = max(int(np.searchsorted(ends, begin + most, "right")), first + 1)
        out[found[first:last]] = function.reduceat(
            rows[begin : ends[last - 1]], starts[first:last] - begin, axis=0, dtype=rows.dtype
        )
        first = last
    return out


def segment_sizes(ids: Array, count: int) -> Array:
    """How many rows each of ``count`` segments has, as int64."""
    return np.bincount(ids, minlength=count)
