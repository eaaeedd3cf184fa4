"""A layer that reads a quantized tensor and quantized weights becomes one of integers."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_base.ops.own import FUSED_CONVOLUTION, QUANTIZED_LAYER
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._layers import CONVOLUTIONS
from drystone_optimizer.passes.quantized_layers._grids import FLOAT32, Grid, grid_of
from drystone_optimizer.passes.quantized_layers._weights import Weights, weights_of
from drystone_optimizer.passes.quantized_layers.chains import on_grid

__all__ = ["RULE"]

_PRODUCTS: Final = ("MatMul", "_FusedMatMul")
_KEPT: Final = (
    "strides", "padding", "explicit_paddings", "data_format", "dilations", "fused_ops", "num_args",
    "epsilon", "leakyrelu_alpha", "hardswish_factor",
)  # fmt: skip
_MOST: Final = 2**31 // (255 * 128)  # products in a sum of 32 bits


class _Found(NamedTuple):
    grid: Grid
    weights: Weights


def _layer(node: Node) -> str:
    if node.op in _PRODUCTS:
        return "MatMul"
    return CONVOLUTIONS.get(node.op) or str(node.attrs["layer"])


def _match(ctx: Context, node: Node) -> _Found | None:
    if str(node.attrs.get("T")) != "float32" or not _fits(node):
        return None
    grid = grid_of(ctx, node.inputs[0])
    if grid is None:
        return None
    layer = _layer(node)
    flipped = layer == "MatMul" and bool(node.attr("transpose_b", False))
    channels = {"MatMul": 0 if flipped else 1, "DepthwiseConv2dNative": 2}.get(layer, 3)
    weights = weights_of(ctx, node.inputs[1], channels)
    if weights is None or weights.integers.ndim != (2 if layer == "MatMul" else 4):
        ctx.decline("weights are not quantized to eight bits, each channel in equal steps")
        return None
    shape = weights.integers.shape
    inner = int(np.prod(shape)) // max(shape[channels], 1)
    if inner > _MOST or (layer == "DepthwiseConv2dNative" and shape[3] != 1):
        ctx.decline("its sums may need more than 32 bits, or a channel has several filters")
        return None
    return _Found(grid, weights)


def _fits(node: Node) -> bool:
    """Whether the layer's own attributes are such as the integer one has."""
    if node.op in _PRODUCTS:
        return not node.attr("transpose_a", False)
    plain = node.attr("filter_format", "HWIO") == "HWIO" and not node.attr("num_host_args", 0)
    return plain and node.attr("data_format", "NHWC") == "NHWC"


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    grid, weights = found
    integers = weights.integers
    if _layer(node) == "MatMul" and node.attr("transpose_b", False):
        integers = np.ascontiguousarray(integers.T)
    source, quantizer = node.inputs[:2]
    x = on_grid(ctx, source, grid)
    filters = ctx.add_constant(node, "integers", integers)
    steps = weights.steps * np.float32(grid.scale)
    scales = ctx.add_constant(node, "scales", steps.astype(np.float32))
    inputs: list[Output] = [x, filters, scales, *node.inputs[2:]]
    attrs: dict[str, Any] = {name: node.attrs[name] for name in _KEPT if name in node.attrs}
    attrs |= {"layer": _layer(node), "T": FLOAT32, "Tx": grid.dtype, "Tout": FLOAT32}
    attrs |= {"x_zero": grid.zero, "num_args": len(node.inputs) - 2}
    ctx.become(node, QUANTIZED_LAYER, inputs, attrs)
    for unused in (quantizer[0], source[0]):
        ctx.drop_unused(unused)


_OPS: Final = (*_PRODUCTS, *CONVOLUTIONS, FUSED_CONVOLUTION)
RULE: Final = Rule("integer-layer", _OPS, _match, _apply, Numeric.APPROXIMATE)
