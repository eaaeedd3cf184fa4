"""A bias behind the Reshape of a product's rows goes before it: the product takes it along.

A dense layer of more than two dimensions is a product of rows and columns between two Reshapes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.remapping._layers import fusable, inner_layer

__all__ = ["RULE"]


class _Found(NamedTuple):
    layer: Node
    reshape: Node
    bias: Output


def _match(ctx: Context, node: Node) -> _Found | None:
    if str(node.attr("data_format", "NHWC")).startswith("NC"):
        return None
    left, right = node.inputs
    either = ((left, right), (right, left)) if node.op.startswith("Add") else ((left, right),)
    for product, bias in either:
        reshape = inner_layer(ctx, product, node, ("Reshape",))
        if reshape is None:
            continue
        layer = inner_layer(ctx, reshape.inputs[0], reshape, ("MatMul",))
        if layer is None or not fusable(layer):
            continue
        if _is_bias_of_columns(ctx, layer, reshape, bias):
            return _Found(layer, reshape, bias)
    return None


def _is_bias_of_columns(ctx: Context, layer: Node, reshape: Node, bias: Output) -> bool:
    """Whether the bias has one number for each column, and columns stay the last dimension."""
    columns, shape = ctx.shape(bias), ctx.shape((reshape, 0))
    product = ctx.shape((layer, 0))
    if columns is None or not shape or not product or len(columns) != 1 or columns[0] < 0:
        return False
    return columns[0] == shape[-1] == product[-1]


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    attrs = {"T": node.attrs["T"]}
    biased = ctx.add("BiasAdd", node, "biased", [(found.layer, 0), found.bias], attrs)
    own = {n: v for n, v in found.reshape.attrs.items() if not n.startswith("_")}
    ctx.become(node, "Reshape", [(biased, 0), found.reshape.inputs[1]], own)
    ctx.drop_unused(found.reshape)


RULE: Final = Rule(
    "bias-before-reshape", ("BiasAdd", "BiasAddV1", "Add", "AddV2"), _match, _apply,
    reads=("Reshape",),
)  # fmt: skip
