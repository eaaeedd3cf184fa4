"""Relu(x) - a * Relu(-x) becomes Relu(x) + a * Minimum(x, 0): a slope of its own below zero.

Exporters without an op for that write it so. Only the sign of a zero may differ.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]


class _Found(NamedTuple):
    above: Output
    product: Node
    slope: Output
    below: Node
    x: Output


def _match(ctx: Context, node: Node) -> _Found | None:
    above, product = node.inputs[0], node.inputs[1][0]
    if above[0].op != "Relu" or above[0] in ctx.fed_nodes or not _is_inner(ctx, product, "Mul"):
        return None
    for below, slope in (product.inputs, product.inputs[::-1]):
        relu = below[0]
        if not _is_inner(ctx, relu, "Relu") or not _is_inner(ctx, relu.inputs[0][0], "Neg"):
            continue
        x, value = relu.inputs[0][0].inputs[0], ctx.constant(slope)
        if above[0].inputs[0] == x and value is not None and np.isfinite(value).all():
            return (
                _Found(above, product, slope, relu, x) if keeps_native("Neg", "Minimum") else None
            )
    return None


def _is_inner(ctx: Context, node: Node, op: str) -> bool:
    if node.op != op or node in ctx.fed_nodes or node.controls:
        return False
    return ctx.only_user(node) and ctx.may_rewrite(node)


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    dtype = ctx.dtype(found.x)
    assert dtype is not None
    attrs = {"T": dtype}
    zero = ctx.add_constant(node, "zero", np.zeros((), dtype.np))
    below = ctx.add("Minimum", found.below, "below", [found.x, zero], attrs)
    ctx.graph.set_inputs(found.product, [found.slope, (below, 0)])
    ctx.become(node, "AddV2", [found.above, (found.product, 0)], attrs)
    ctx.drop_unused(found.below)


RULE: Final = Rule("relu-pair", ("Sub",), _match, _apply, Numeric.REASSOCIATES, reads=("Relu",))
