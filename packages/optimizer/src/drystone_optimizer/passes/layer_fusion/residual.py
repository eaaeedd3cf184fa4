"""A convolution and the sum with a tensor of its shape, after any activation."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node, Output
from drystone_base.ops.own import FUSED_CONVOLUTION
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._layers import CONVOLUTIONS, become_own, inner_layer

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> tuple[Node, Output] | None:
    left, right = node.inputs
    for product, other in ((left, right), (right, left)):
        layer = inner_layer(ctx, product, node, (node,))
        if layer is None or other[0] is layer:
            continue
        if same_shape(ctx.shape(product), ctx.shape(other)):
            return layer, other
    return None


def _apply(ctx: Context, node: Node, found: tuple[Node, Output]) -> None:
    layer, other = found
    become_own(ctx, node, layer, layer.inputs[0], [other], ["Add"])


RULE: Final = Rule(
    "sum", ("Add", "AddV2"), _match, _apply, Numeric.REASSOCIATES,
    reads=(*CONVOLUTIONS, FUSED_CONVOLUTION),
)  # fmt: skip
