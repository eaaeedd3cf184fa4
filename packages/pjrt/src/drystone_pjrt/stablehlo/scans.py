"""Where the largest element is, and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import from_numpy
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.reductions import extreme, widened
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer

__all__: list[str] = []

_INT32: Final = np.dtype(np.int32)


def _axis(s: Site) -> int:
    """The axis, which input 1 names."""
    (number,), rank = s.integers(1), len(s.inputs[0].shape)
    axis = number + rank if number < 0 else number
    if not 0 <= axis < rank:
        raise Refused(f"axis {number} of {rank} dimensions")
    return axis


@emits("ArgMax", "ArgMin", static=(1,))
def place_of_extreme(w: Writer, s: Site) -> Value:
    """The first place of the extreme along an axis; what is no number is never it."""
    x, axis, lowest = s.inputs[0], _axis(s), s.op == "ArgMax"
    if not x.shape[axis]:
        raise Refused("there is nothing to take from")
    if x.dtype == np.dtype(bool):
        x = w.convert(x, _INT32)
    worst = extreme(x.dtype, lowest=lowest)
    if from_numpy(x.dtype).is_floating:
        x = w.select(w.compare("NE", x, x), w.full(worst, x.shape, x.dtype), x)
    function = "stablehlo.maximum" if lowest else "stablehlo.minimum"
    best = w.reduce(function, x, worst, [axis])
    kept = [k for k in range(len(x.shape)) if k != axis]
    numbers = w.op("stablehlo.iota", [], x.shape, _INT32, f"iota_dimension = {axis} : i64")
    beyond = w.full(x.shape[axis], x.shape, _INT32)
    where = w.compare("EQ", x, w.broadcast(best, x.shape, kept))
    first = w.reduce("stablehlo.minimum", w.select(where, numbers, beyond), x.shape[axis], [axis])
    return w.convert(first, s.dtype("output_type"))


@emits("Cumsum", "Cumprod", static=(1,))
def running(w: Writer, s: Site) -> Value:
    """Sums or products of what is before each element, with it or without.

    Each step joins twice as many elements: log2(n) steps for n elements.
    """
    axis, x = _axis(s), widened(w, s.inputs[0])
    start, function = (0, "add") if s.op == "Cumsum" else (1, "multiply")
    if s.attr("reverse"):
        x = w.reverse(x, [axis])
    if s.attr("exclusive") and x.shape[axis]:
        x = _later(w, x, axis, 1, start)
    step = 1
    while step < x.shape[axis]:
        x = w.same(f"stablehlo.{function}", x, _later(w, x, axis, step, start))
        step *= 2
    if s.attr("reverse"):
        x = w.reverse(x, [axis])
    return w.convert(x, s.inputs[0].dtype)


def _later(w: Writer, x: Value, axis: int, step: int, start: Any) -> Value:
    """The elements so many places later, after others."""
    high: Sequence[int] = [n - step if k == axis else n for k, n in enumerate(x.shape)]
    kept = w.slice(x, [0] * len(x.shape), high)
    around = [(step if k == axis else 0, 0) for k in range(len(x.shape))]
    return w.pad(kept, w.scalar(start, x.dtype), around)
