"""Colours of op families."""

from __future__ import annotations

from typing import Final

from drystone_base.executor.plan import can_run
from drystone_base.kernels import find_kernel
from drystone_base.ops.properties import CONTROL_FLOW

__all__ = ["FAMILIES", "UNSUPPORTED", "family"]

# Name, fill, stroke, and the kernel modules that belong to it (by the beginning of their name).
FAMILIES: Final[tuple[tuple[str, str, str, tuple[str, ...]], ...]] = (
    ("convolution, pooling", "#cfe3ff", "#2f6fc4", ("conv", "depthwise", "pool", "fused")),
    ("matrices", "#d9d6fb", "#5b50c9", ("matmul", "einsum", "linalg", "matrix")),
    ("activation, normalization", "#ffe2c2", "#d0781a", ("activation", "normal", "loss")),
    ("element by element", "#d3f0d8", "#2f9a4b",
     ("elementwise", "comparison", "cast", "bitwise", "special")),
    ("reduction, order", "#c9eeec", "#1d908b",
     ("reduction", "segment", "ordering", "range", "unique", "histogram")),
    ("shape, slices", "#e9e4f0", "#7d6a9c",
     ("shape", "slic", "gather", "join", "pad", "stack", "stitch", "scatter", "space", "image")),
    ("strings, tables, sparse", "#fbd6e6", "#c03a78",
     ("string", "regex", "unicode", "sparse", "table", "lookup", "decode", "pars")),
    ("state", "#efdcc8", "#93602b", ("variable", "training", "checkpoint", "queue")),
    ("control flow, functions", "#ffd5d0", "#cc4232",
     ("control", "functional", "tensor_list", "tensor_array", "optional", "assert")),
    ("random", "#fff3b8", "#b39200", ("random",)),
    ("other", "#eceff2", "#7a8794", ()),
)  # fmt: skip
UNSUPPORTED: Final = ("no kernel", "#ffffff", "#e00000")

_BY_NAME: Final = {name: (fill, stroke) for name, fill, stroke, _ in FAMILIES}


def family(op: str, functions: object = ()) -> tuple[str, str, str]:
    """Name, fill and stroke of the family of an op; ``functions`` are names of functions."""
    if op in CONTROL_FLOW or (hasattr(functions, "__contains__") and op in functions):
        return ("control flow, functions", *_BY_NAME["control flow, functions"])
    if op in ("Placeholder", "PlaceholderWithDefault", "_Arg", "_Retval"):
        return ("other", *_BY_NAME["other"])
    if not can_run(op):
        return UNSUPPORTED
    kernel = find_kernel(op)
    module = kernel.__module__.rpartition(".")[2].lstrip("_") if kernel is not None else ""
    for name, fill, stroke, prefixes in FAMILIES:
        if module.startswith(prefixes):
            return name, fill, stroke
    return ("other", *_BY_NAME["other"])
