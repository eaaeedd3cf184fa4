"""Graphs that tests of optimizers share."""

from __future__ import annotations

from drystone_base.core.dtypes import from_number
from drystone_base.graph import Graph

__all__ = ["small_graph"]


def small_graph() -> Graph:
    """``z = Neg(y)``, ``y = Relu(x)`` on a stated device, ``x`` a placeholder of [?, 3]."""
    made = Graph()
    dtype = from_number(1)
    x = made.add("Placeholder", "x", attrs={"dtype": dtype, "shape": (-1, 3)})
    y = made.add("Relu", "y", [x], attrs={"T": dtype}, device="/device:CPU:0")
    made.add("Neg", "z", [y], attrs={"T": dtype})
    return made
