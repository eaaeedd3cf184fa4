"""A layer with its bias, and the sum with a tensor of the same shape, become one node."""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.remapping._layers import FUSED, grow, inner_layer

__all__ = ["RULE"]

_BEFORE: Final = (["BiasAdd"], ["FusedBatchNorm"])


class _Found(NamedTuple):
    layer: Node
    other: Output


def _match(ctx: Context, node: Node) -> _Found | None:
    left, right = node.inputs
    for product, other in ((left, right), (right, left)):
        layer = inner_layer(ctx, product, node, FUSED)
        if layer is None or layer.attrs.get("fused_ops") not in _BEFORE:
            continue
        if same_shape(ctx.shape(product), ctx.shape(other)):
            return _Found(layer, other)
    return None


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    grow(ctx, node, found.layer, [found.other], "Add")


RULE: Final = Rule(
    "residual-sum", ("Add", "AddV2"), _match, _apply, Numeric.REASSOCIATES,
    reads=tuple(FUSED),
)  # fmt: skip
