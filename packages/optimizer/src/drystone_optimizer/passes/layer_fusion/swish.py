"""A convolution and x sigmoid(x) after it."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._layers import become_own, inner_layer

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> Node | None:
    left, right = node.inputs
    for product, (gate, slot) in ((left, right), (right, left)):
        if gate.op != "Sigmoid" or slot or gate.inputs[0] != product:
            continue
        if not ctx.only_user(gate) or gate.controls or gate in ctx.fed_nodes:
            continue
        layer = inner_layer(ctx, product, node, (node, gate))
        if layer is not None:
            return layer
    return None


def _apply(ctx: Context, node: Node, layer: Node) -> None:
    become_own(ctx, node, layer, layer.inputs[0], [], ["Swish"])


RULE: Final = Rule("swish", ("Mul",), _match, _apply, Numeric.REASSOCIATES, reads=("Sigmoid",))
