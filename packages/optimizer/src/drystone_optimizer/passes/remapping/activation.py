"""A fused layer and the activation after it become one node.

Activations that libraries compute along with a product at no loss: the others have faster kernels
of their own.
"""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.remapping._layers import FUSED, grow, inner_layer

__all__ = ["RULE"]

_ACTIVATIONS: Final = ("Relu", "Relu6", "LeakyRelu")


def _match(ctx: Context, node: Node) -> Node | None:
    layer = inner_layer(ctx, node.inputs[0], node, FUSED)
    if layer is None or any(name in _ACTIVATIONS for name in layer.attrs["fused_ops"]):
        return None
    return layer


def _apply(ctx: Context, node: Node, layer: Node) -> None:
    slope = {"leakyrelu_alpha": node.attr("alpha", 0.2)} if node.op == "LeakyRelu" else {}
    grow(ctx, node, layer, [], node.op, **slope)


# A kernel may make 0 of -0 on the way.
RULE: Final = Rule(
    "activation", _ACTIVATIONS, _match, _apply, Numeric.REASSOCIATES, reads=tuple(FUSED)
)
