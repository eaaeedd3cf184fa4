"""Drawers that rules are put together from; each is told the draft and gives one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from parity.draft import Draft, Drawer

__all__ = [
    "axes_of",
    "axis_of",
    "below",
    "broadcast_with",
    "choice",
    "fixed",
    "integers",
    "like",
    "positive",
    "scalar",
    "shape_of",
    "shaped",
    "some",
    "unit",
    "vector",
]

WRONG = 0.06  # share of axes, indices and sizes that are out of range


def _as(draft: Draft, arg: str, value: Any) -> Any:
    return np.asarray(value).astype(draft.dtype(arg).np)


def shaped(spec: str, special: bool | None = None) -> Drawer:
    """Any values of the shape ``spec``: ``"b h w 3"``, ``"... m k"``."""
    return lambda d: d.tensor(d.making, d.shape(spec), special)


def some(most: int = 4, least: int = 0, special: bool | None = None) -> Drawer:
    """Any values of any shape of rank ``least`` to ``most``."""

    def draw(d: Draft) -> Any:
        shape = d.any_shape(most)
        while len(shape) < least:
            shape = (*shape, d.pick(1, 2, 3))
        return d.tensor(d.making, shape, special)

    return draw


def like(other: str, special: bool | None = None) -> Drawer:
    """Any values of the shape of another input."""
    return lambda d: d.tensor(d.making, np.shape(d[other]), special)


def broadcast_with(other: str) -> Drawer:
    """Any values of a shape that broadcasts with another input's."""
    return lambda d: d.tensor(d.making, d.pair_of(np.shape(d[other])))


def scalar(low: float = -9, high: float = 9) -> Drawer:
    """One number from ``low`` to ``high``."""
    return integers("", int(low), int(high))


def integers(spec: str, low: int, high: int) -> Drawer:
    """Integers from ``low`` to ``high``, both included, of a given shape."""
    return lambda d: _as(d, d.making, d.rng.integers(low, high + 1, d.shape(spec)))


def unit(spec: str = "", low: float = 0.0, high: float = 1.0) -> Drawer:
    """Numbers spread evenly from ``low`` to ``high``."""
    return lambda d: _as(d, d.making, d.rng.uniform(low, high, d.shape(spec)))


def positive(spec: str) -> Drawer:
    """Numbers from 0.1 to 3: scales, variances."""
    return unit(spec, 0.1, 3.0)


def fixed(value: Any) -> Drawer:
    """Always the same, also for an attribute."""
    return lambda _: value


def choice(*values: Any) -> Drawer:
    """One of several attribute values."""
    return lambda d: d.pick(*values)


def vector(*values: Any) -> Drawer:
    """One of several vectors, for an input."""
    return lambda d: _as(d, d.making, d.pick(*values))


def below(bound: str | int, spec: str = "n", wrong: float = WRONG) -> Drawer:
    """Indices from 0 up to a named dimension or number; now and then out of range."""

    def draw(d: Draft) -> Any:
        top = d.dim(bound) if isinstance(bound, str) else bound
        out = d.rng.integers(0, max(top, 1), d.shape(spec))
        if out.size and d.chance(wrong):
            out.flat[d.size(0, out.size - 1)] = d.pick(-1, top, top + 5)
        return _as(d, d.making, out)

    return draw


def axis_of(other: str, extra: int = 0) -> Drawer:
    """A scalar axis of another input; ``extra`` more are in range for an op that adds one."""

    def draw(d: Draft) -> Any:
        value = d[other]
        rank = np.ndim(value[0] if isinstance(value, list) and value else value) + extra
        out = d.size(-rank, rank - 1) if rank and not d.chance(WRONG) else d.pick(0, rank, -7)
        return _as(d, d.making, out) if _is_input(d) else out

    return draw


def _is_input(d: Draft) -> bool:
    return d.making not in d.op.attrs


def axes_of(other: str) -> Drawer:
    """Some axes of another input, as a scalar, a vector or none; now and then wrong."""

    def draw(d: Draft) -> Any:
        rank = np.ndim(d[other])
        if rank and d.chance(0.2):
            return _as(d, d.making, d.size(-rank, rank - 1))
        chosen = d.rng.permutation(rank)[: d.size(0, rank)]
        out = [int(a) - rank * d.chance(0.3) for a in chosen]
        if d.chance(WRONG):
            out.append(d.pick(rank, -rank - 1, *(out or [9])))
        return _as(d, d.making, np.array(out, np.int64))

    return draw


def shape_of(other: str) -> Drawer:
    """The shape of another input, as a vector."""
    return lambda d: _as(d, d.making, np.array(np.shape(d[other]), np.int64))


def numbers(values: Sequence[Any]) -> Drawer:
    """A fixed vector for an input."""
    return lambda d: _as(d, d.making, np.array(values))
