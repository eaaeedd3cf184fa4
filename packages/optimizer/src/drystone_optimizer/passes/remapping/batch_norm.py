"""A convolution and its batch normalization, with moments that are given, become one node."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.remapping._layers import fusable, fuse, inner_layer, layout_of

__all__ = ["RULE"]

_LAYERS: Final = ("Conv2D", "DepthwiseConv2dNative")


def _match(ctx: Context, node: Node) -> Node | None:
    if node.attr("is_training", True) or ctx.kept(node):
        return None
    if any(user.inputs[k][1] for user, k in ctx.graph.consumers(node)):
        return None  # the moments are read, too
    layer = inner_layer(ctx, node.inputs[0], node, _LAYERS)
    if layer is None or not fusable(layer) or layout_of(layer) != layout_of(node):
        return None
    dtype = ctx.dtype(node.inputs[0])
    return layer if all(ctx.dtype(o) is dtype for o in node.inputs) else None


def _apply(ctx: Context, node: Node, layer: Node) -> None:
    epsilon = node.attr("epsilon", 1e-4)
    fuse(ctx, node, layer, node.inputs[1:], "FusedBatchNorm", epsilon=epsilon)


RULE: Final = Rule(
    "batch-norm",
    ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
    _match,
    _apply,
    Numeric.REASSOCIATES,
    reads=_LAYERS,
)
