"""Grids of eight bits that tensors of floats stand on, as nodes that quantize them say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.graph import Node, Output
from drystone_base.ops.own import FROM_GRID
from drystone_base.ops.properties import RESHAPES
from drystone_optimizer.core.context import Context
from drystone_optimizer.passes.quantized_layers._pairs import grid_of_range, pair

__all__ = [
    "FLOAT32", "MOVERS", "Grid", "before", "constants", "grid_of", "quantized", "settings",
]  # fmt: skip

FLOAT32: Final = as_dtype("float32")
_INT8, _UINT8 = as_dtype("int8"), as_dtype("uint8")

Array = np.ndarray[Any, Any]

MOVERS: Final = RESHAPES | {"Identity", "MaxPool", "Transpose"}
"""Ops that give elements of their first input, and so stay on its grid."""
_DEPTH: Final = 4


class Grid(NamedTuple):
    """``(q - zero) scale`` for the integers ``q`` of a type from ``first`` to ``last``."""

    dtype: DType
    scale: float
    zero: int
    first: int
    last: int
    half_up: bool

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of a node that gives such integers."""
        return {name: getattr(self, name) for name in ("scale", "zero", "first", "last")}


def grid_of(ctx: Context, output: Output) -> Grid | None:
    """The grid that a tensor stands on, where a node before it puts it there."""
    for _ in range(_DEPTH):
        node, slot = output
        if slot or node in ctx.fed_nodes:
            return None
        if node.op not in MOVERS:
            return quantized(ctx, node)
        output = node.inputs[0]
    return None


def quantized(ctx: Context, node: Node) -> Grid | None:
    """The one grid of all that a node gives, if it puts its first input there."""
    if node.op == FROM_GRID:
        held = {name: node.attrs[name] for name in ("scale", "zero", "first", "last")}
        return Grid(node.attrs["T"], **held, half_up=False)
    if node.op == "Dequantize":
        return _of_pair(ctx, node)
    if node.op == "FakeQuantWithMinMaxArgs":
        attrs = settings(ctx, node)
        return _fake(attrs, np.float32(attrs["min"]), np.float32(attrs["max"]))
    span = _range(ctx, node)
    if span is None:
        return None
    if node.op == "FakeQuantWithMinMaxVars":
        return _fake(settings(ctx, node), *span)
    if node.op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
        return _even(settings(ctx, node), *span)
    return None


def before(node: Node) -> Output:
    """What a node quantizes."""
    both = pair(node)
    return (node if both is None else both.first).inputs[0]


def _range(ctx: Context, node: Node) -> tuple[np.float32, np.float32] | None:
    """The one range of all that a node quantizes, where it is constant."""
    span = constants(ctx, node, 1, 3)
    if span is None or any(value.size != 1 or value.dtype != np.float32 for value in span):
        return None
    return np.float32(span[0].reshape(-1)[0]), np.float32(span[1].reshape(-1)[0])


def _of_pair(ctx: Context, node: Node) -> Grid | None:
    """Of a QuantizeV2 and the Dequantize of what it gives."""
    both = pair(node)
    if both is None or both.first in ctx.fed_nodes:
        return None
    span, how = _range(ctx, both.first), settings(ctx, both.first)
    steps = None if span is None else grid_of_range(span, both.label, how, settings(ctx, node))
    if steps is None:
        return None
    dtype = _UINT8 if both.label == "quint8" else _INT8
    return Grid(dtype, *steps, half_up=how["round_mode"] != "HALF_TO_EVEN")


def settings(ctx: Context, node: Node) -> Mapping[str, Any]:
    """The node's attributes with the defaults of its op."""
    signature = ctx.signatures.of(node)
    return {} if signature is None else signature.attrs


def constants(ctx: Context, node: Node, begin: int, end: int) -> list[Array] | None:
    """The node's inputs of these numbers, if all are constants."""
    found = [ctx.constant(output) for output in node.inputs[begin:end]]
    values = [value for value in found if value is not None]
    return values if len(values) == end - begin else None


def _fake(attrs: Mapping[str, Any], low: np.float32, high: np.float32) -> Grid | None:
    """Of FakeQuant: the range is moved so that 0.0 is a step."""
    bits, first = int(attrs["num_bits"]), int(attrs["narrow_range"])
    last = 2**bits - 1
    scale = (high - low) / np.float32(last - first)
    if bits > 8 or not np.isfinite(scale) or scale <= 0:
        return None
    zero = np.clip(np.floor(np.float32(first) - low / scale + np.float32(0.5)), first, last)
    return Grid(_UINT8, float(scale), int(zero), first, last, half_up=True)


def _even(attrs: Mapping[str, Any], low: np.float32, high: np.float32) -> Grid | None:
    """Of QuantizeAndDequantize with a range given: 0 is 0, and the wider end on the last step."""
    bits, signed = int(attrs["num_bits"]), bool(attrs["signed_input"])
    if bits > 8 or not attrs["range_given"] or attrs["axis"] != -1:
        return None
    first = -(2 ** (bits - 1)) + int(attrs["narrow_range"]) if signed else 0
    last = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    units = [end / np.float32(step) for end, step in ((low, first), (high, last)) if step]
    scale = max(units)
    if not low <= high or not np.isfinite(scale) or scale <= 0:
        return None
    half_up = attrs["round_mode"] == "HALF_UP"
    return Grid(_INT8 if signed else _UINT8, float(scale), 0, first, last, half_up)
