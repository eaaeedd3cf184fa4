"""Softmax and its logarithm, along the last axis."""

from __future__ import annotations

import numpy as np

from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.reductions import widened
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer

__all__: list[str] = []


@emits("Softmax", "LogSoftmax")
def softmax(w: Writer, s: Site) -> Value:
    """Exponentials of what is left of the largest, by their sum; or the logarithm of that."""
    (given,) = s.inputs
    if not given.shape:
        raise Refused("it is of a scalar")
    x, axes = widened(w, given), [len(given.shape) - 1]
    front = range(axes[0])

    def along(value: Value) -> Value:
        return w.broadcast(value, x.shape, front)

    left = w.same("stablehlo.subtract", x, along(w.reduce("stablehlo.maximum", x, -np.inf, axes)))
    powers = w.same("stablehlo.exponential", left)
    total = w.reduce("stablehlo.add", powers, 0, axes)
    if s.op == "Softmax":
        made = w.same("stablehlo.divide", powers, along(total))
    else:
        made = w.same("stablehlo.subtract", left, along(w.same("stablehlo.log", total)))
    return w.convert(made, given.dtype)
