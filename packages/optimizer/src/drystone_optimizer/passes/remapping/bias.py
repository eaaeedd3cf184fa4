"""A layer and its bias become one node: BiasAdd, or the sum with a vector of one per channel."""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.context import Context
from drystone_optimizer.passes.remapping._layers import (
    LAYERS,
    fusable,
    fuse,
    inner_layer,
    layout_of,
)
from drystone_optimizer.rules import Rule

__all__ = ["RULE"]


class _Found(NamedTuple):
    layer: Node
    bias: Output


def _match(ctx: Context, node: Node) -> _Found | None:
    left, right = node.inputs
    if node.op in ("BiasAdd", "BiasAddV1"):
        layer = inner_layer(ctx, left, node, LAYERS)
        if layer is None or not fusable(layer) or not _same_layout(layer, node):
            return None
        return _Found(layer, right)
    for product, bias in ((left, right), (right, left)):
        layer = inner_layer(ctx, product, node, LAYERS)
        if layer is not None and fusable(layer) and _is_bias(ctx, layer, bias):
            return _Found(layer, bias)
    return None


def _same_layout(layer: Node, bias: Node) -> bool:
    first = str(bias.attr("data_format", "NHWC")).startswith("NC")
    return first == layout_of(layer).startswith("NC") and not (first and layer.op == "MatMul")


def _is_bias(ctx: Context, layer: Node, bias: Output) -> bool:
    """Whether adding ``bias`` adds one number to each channel, and broadcasts nothing else."""
    if layout_of(layer).startswith("NC"):
        return False
    shape, weights = ctx.shape(bias), ctx.shape(layer.inputs[1])
    if shape is None or len(shape) != 1 or weights is None or min(weights, default=-1) < 0:
        return False
    if layer.op == "DepthwiseConv2dNative":
        return shape[0] == weights[-1] * weights[-2]
    return shape[0] == weights[-2 if layer.attr("transpose_b") else -1]


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    fuse(ctx, node, found.layer, [found.bias], "BiasAdd")


RULE: Final = Rule("bias", ("BiasAdd", "BiasAddV1", "Add", "AddV2"), _match, _apply)
