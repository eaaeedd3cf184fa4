"""A layer and its bias become one node: BiasAdd, or the sum with a vector of one per channel.

A constant may have further dimensions of one, as long as the sum has no more than the layer.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.remapping._layers import (
    LAYERS,
    fusable,
    fuse,
    inner_layer,
    layout_of,
)

__all__ = ["RULE"]


class _Found(NamedTuple):
    layer: Node
    bias: Output
    vector: np.ndarray[Any, Any] | None = None


def _match(ctx: Context, node: Node) -> _Found | None:
    left, right = node.inputs
    if node.op in ("BiasAdd", "BiasAddV1"):
        layer = inner_layer(ctx, left, node, LAYERS)
        if layer is None or not fusable(layer) or not _same_layout(layer, node):
            return None
        return _Found(layer, right)
    for product, bias in ((left, right), (right, left)):
        layer = inner_layer(ctx, product, node, LAYERS)
        if layer is None or not fusable(layer):
            continue
        if _is_bias(ctx, layer, ctx.shape(bias)):
            return _Found(layer, bias)
        vector = _vector(ctx, layer, bias)
        if vector is not None and _is_bias(ctx, layer, vector.shape):
            return _Found(layer, bias, vector)
    return None


def _vector(ctx: Context, layer: Node, bias: Output) -> np.ndarray[Any, Any] | None:
    """A constant without its leading dimensions of one, if it has such and no others."""
    value, whole = ctx.constant(bias), ctx.shape((layer, 0))
    if value is None or whole is None or not 1 < value.ndim <= len(whole):
        return None
    return value.reshape(-1) if value.size == value.shape[-1] else None


def _same_layout(layer: Node, bias: Node) -> bool:
    first = str(bias.attr("data_format", "NHWC")).startswith("NC")
    return first == layout_of(layer).startswith("NC") and not (first and layer.op == "MatMul")


def _is_bias(ctx: Context, layer: Node, shape: tuple[int, ...] | None) -> bool:
    """Whether a bias of that shape adds one number to each channel, and broadcasts nothing else."""
    if layout_of(layer).startswith("NC"):
        return False
    weights = ctx.shape(layer.inputs[1])
    if shape is None or len(shape) != 1 or weights is None or min(weights, default=-1) < 0:
        return False
    if layer.op == "DepthwiseConv2dNative":
        return shape[0] == weights[-1] * weights[-2]
    return shape[0] == weights[-2 if layer.attr("transpose_b") else -1]


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    if found.vector is None:
        fuse(ctx, node, found.layer, [found.bias], "BiasAdd")
        return
    held = found.bias[0]
    vector = ctx.add_constant(node, "bias", found.vector, held.controls)
    fuse(ctx, node, found.layer, [vector], "BiasAdd")
    ctx.drop_unused(held)


# A kernel may begin its sums with the bias.
RULE: Final = Rule(
    "bias", ("BiasAdd", "BiasAddV1", "Add", "AddV2"), _match, _apply, Numeric.REASSOCIATES,
    reads=tuple(LAYERS),
)  # fmt: skip
