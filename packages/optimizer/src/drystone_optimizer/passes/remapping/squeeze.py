"""A bias behind a Squeeze of rows or columns goes before it: the convolution takes it along."""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_base.ops.properties import CONVOLUTIONS
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.remapping._layers import fusable, inner_layer, layout_of

__all__ = ["RULE"]

_LAYERS: Final = tuple(sorted(CONVOLUTIONS))


class _Found(NamedTuple):
    layer: Node
    squeeze: Node
    bias: Output


def _match(ctx: Context, node: Node) -> _Found | None:
    squeeze = inner_layer(ctx, node.inputs[0], node, ("Squeeze",))
    if squeeze is None or str(node.attr("data_format", "NHWC")).startswith("NC"):
        return None
    layer = inner_layer(ctx, squeeze.inputs[0], squeeze, _LAYERS)
    if layer is None or not fusable(layer) or layout_of(layer).startswith("NC"):
        return None
    rank = 5 if layer.op == "Conv3D" else 4
    dims = list(squeeze.attr("squeeze_dims") or [])
    if not dims or any(d % rank in (0, rank - 1) for d in dims):
        return None  # channels must stay the last of two or more sizes
    return _Found(layer, squeeze, node.inputs[1])


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    own = {n: v for n, v in found.squeeze.attrs.items() if not n.startswith("_")}
    attrs = {"T": node.attrs["T"]}
    biased = ctx.add("BiasAdd", node, "biased", [(found.layer, 0), found.bias], attrs)
    ctx.become(node, "Squeeze", [(biased, 0)], own)
    ctx.drop_unused(found.squeeze)


RULE: Final = Rule(
    "bias-before-squeeze", ("BiasAdd", "BiasAddV1"), _match, _apply, reads=("Squeeze",)
)
