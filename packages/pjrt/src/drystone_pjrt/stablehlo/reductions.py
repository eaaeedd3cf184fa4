"""Reductions over axes that are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import from_numpy
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer

__all__ = ["extreme", "sum_of", "widened"]

_FUNCTIONS: Final = {
    "All": ("and", True), "Any": ("or", False), "Prod": ("multiply", 1), "Sum": ("add", 0),
}  # fmt: skip
_NARROW: Final = frozenset({"float16", "bfloat16"})


def extreme(dtype: np.dtype[Any], *, lowest: bool) -> Any:
    """What no element of a type is below (``lowest``), or above."""
    if from_numpy(dtype).is_floating:
        return -np.inf if lowest else np.inf
    limits = np.iinfo(dtype)
    return limits.min if lowest else limits.max


def widened(w: Writer, value: Value) -> Value:
    """Half-precision numbers as float32, in which they are summed."""
    return w.convert(value, np.dtype(np.float32)) if value.dtype.name in _NARROW else value


def sum_of(w: Writer, value: Value, axes: Sequence[int]) -> Value:
    """The sum along axes, in the value's type."""
    return w.convert(w.reduce("stablehlo.add", widened(w, value), 0, axes), value.dtype)


def axes_of(s: Site, k: int = 1) -> list[int]:
    """The axes that input ``k`` names, from the front, each once."""
    rank = len(s.inputs[0].shape)
    axes = [axis + rank if axis < 0 else axis for axis in s.integers(k)]
    if any(not 0 <= axis < rank for axis in axes) or len(set(axes)) != len(axes):
        raise Refused(f"its axes are {s.integers(k)}, and its input has {rank} dimensions")
    return sorted(axes)


def _kept(w: Writer, s: Site, value: Value, axes: Sequence[int]) -> Value:
    """With dimensions of 1 in place of the axes, where the node asks for them."""
    if not s.attr("keep_dims"):
        return value
    shape = tuple(1 if k in axes else size for k, size in enumerate(s.inputs[0].shape))
    return w.reshape(value, shape)


@emits(*_FUNCTIONS, static=(1,))
def reduction(w: Writer, s: Site) -> Value:
    """One function of all elements along axes."""
    axes, (function, start) = axes_of(s), _FUNCTIONS[s.op]
    x = s.inputs[0]
    made = w.reduce(f"stablehlo.{function}", widened(w, x), start, axes)
    return _kept(w, s, w.convert(made, x.dtype), axes)


@emits("Max", "Min", static=(1,))
def largest(w: Writer, s: Site) -> Value:
    """The largest or smallest element along axes."""
    axes, x = axes_of(s), s.inputs[0]
    function = "stablehlo.maximum" if s.op == "Max" else "stablehlo.minimum"
    made = w.reduce(function, x, extreme(x.dtype, lowest=s.op == "Max"), axes)
    return _kept(w, s, made, axes)


@emits("Mean", static=(1,))
def mean(w: Writer, s: Site) -> Value:
    """The sum along axes by the number of elements."""
    axes, x = axes_of(s), s.inputs[0]
    if not from_numpy(x.dtype).is_floating:
        raise Refused(f"it is of {x.dtype.name}")
    total = w.reduce("stablehlo.add", widened(w, x), 0, axes)
    count = np.prod([x.shape[axis] for axis in axes], dtype=np.int64)
    by = w.full(count, total.shape, total.dtype)
    return _kept(w, s, w.convert(w.same("stablehlo.divide", total, by), x.dtype), axes)
