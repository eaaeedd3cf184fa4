"""Functions of scalars, given as attributes, applied to whole arrays: reducers, comparators.

Such a function of the graph's library is called once for an array where it treats every element
alike, which is checked on the first and the last one; else once for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from drystone_base.core.errors import DrystoneError
from drystone_base.kernels._registry import Array, Call
from drystone_base.ops.attrs import FunctionRef

__all__ = ["Apply", "accumulate", "elementwise", "fold"]

Apply: TypeAlias = Callable[[Sequence[Array]], list[Array]]


def elementwise(call: Call, function: FunctionRef) -> Apply:
    """The function of scalars as a function of arrays of one shape."""

    def scalars(args: Sequence[Array]) -> list[Array]:
        return call.runtime.invoke(function, args)

    def apply(args: Sequence[Array]) -> list[Array]:
        shape = np.broadcast_shapes(*(x.shape for x in args))
        full = [np.broadcast_to(x, shape) for x in args]
        if not shape:
            return scalars(full)
        flat = [x.reshape(-1) for x in full]
        if not flat[0].size:
            return [x.reshape(shape) for x in flat[: max(len(flat) // 2, 1)]]
        return [out.reshape(shape) for out in _whole(scalars, flat)]

    return apply


def _whole(scalars: Apply, flat: list[Array]) -> list[Array]:
    """Outputs for vectors: of one call if that agrees with single ones, else of many."""
    ends = sorted({0, flat[0].size - 1})
    alone = [scalars([x[k, ...] for x in flat]) for k in ends]
    if len(ends) == flat[0].size:
        return [np.stack(row) for row in zip(*alone, strict=True)]
    try:
        together = scalars(flat)
    except DrystoneError:
        together = []
    shapes = {out.shape for out in together}
    if shapes == {flat[0].shape} and all(
        np.array_equal(a, b[k], equal_nan=b.dtype.kind in "fc")
        for k, row in zip(ends, alone, strict=True)
        for a, b in zip(row, together, strict=True)
    ):
        return together
    single = [scalars([x[k, ...] for x in flat]) for k in range(flat[0].size)]
    return [np.stack(row) for row in zip(*single, strict=True)]


def fold(
    apply: Apply, parts: Sequence[Array], first: Sequence[Array], present: Array | None = None
) -> list[Array]:
    """Arrays reduced over their last dimension, neighbours first; ``first`` joins in last.

    As in XLA the order is open; left and right are kept. Where ``present`` is false there is no
    element.
    """
    held = list(parts)
    there = np.ones(held[0].shape, bool) if present is None else present
    while held[0].shape[-1] > 1:
        count = held[0].shape[-1] // 2 * 2
        left, right = ([x[..., k:count:2] for x in held] for k in (0, 1))
        has_left, has_right = there[..., 0:count:2], there[..., 1:count:2]
        joined = _joined(apply, left, right, (has_left, has_right))
        held = [np.concatenate([a, x[..., count:]], -1) for a, x in zip(joined, held, strict=True)]
        there = np.concatenate([has_left | has_right, there[..., count:]], -1)
    lead = held[0].shape[:-1]
    start = [np.broadcast_to(x, lead) for x in first]
    if not held[0].shape[-1]:
        return start
    return _joined(apply, start, [x[..., 0] for x in held], (np.ones(lead, bool), there[..., 0]))


def _joined(
    apply: Apply, left: Sequence[Array], right: Sequence[Array], there: tuple[Array, Array]
) -> list[Array]:
    """The function where both sides have an element, else the side that has one."""
    out = apply([*left, *right])
    if there[0].all() and there[1].all():
        return out
    both = there[0] & there[1]
    return [
        np.asarray(np.where(both, x, np.where(there[0], a, b)))
        for x, a, b in zip(out, left, right, strict=True)
    ]


def accumulate(apply: Apply, into: Array, places: Array, values: Array) -> None:
    """``into[place] = f(into[place], value)`` for flat places in order, repeated ones in turn."""
    left = np.arange(places.size)
    while left.size:
        _, first = np.unique(places[left], return_index=True)
        turn = left[first]
        (out,) = apply([into[places[turn]], values[turn]])
        into[places[turn]] = out
        rest = np.ones(left.size, bool)
        rest[first] = False
        left = left[rest]
