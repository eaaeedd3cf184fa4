"""Conversions between types."""

from __future__ import annotations

import numpy as np

from drystone_base.graph import Node
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.writer import Value, Writer

__all__: list[str] = []


def _truncates(node: Node) -> str:
    return "it truncates" if node.attr("Truncate", False) else ""


@emits("Cast", check=_truncates)
def cast(w: Writer, s: Site) -> Value:
    """The elements in another type; a number is true unless it is zero."""
    (x,), dtype = s.inputs, s.dtype("DstT")
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        part = np.dtype(np.float32 if x.dtype.itemsize == 8 else np.float64)
        x = w.op("stablehlo.real", [x], x.shape, part)
    if dtype == np.dtype(bool) and x.dtype != dtype:
        return w.compare("NE", x, w.full(0, x.shape, x.dtype))
    return w.convert(x, dtype)
