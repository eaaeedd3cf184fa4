"""A number by which the input of a layer is multiplied goes into its constant weights.

Zeros that the product is padded with before the layer are the same without the factor.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_base.ops.properties import PRODUCTS
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]

_LAYERS: Final = tuple(sorted(PRODUCTS))


class _Found(NamedTuple):
    padding: Node | None
    product: Node
    data: Output
    weights: np.ndarray[Any, Any]


def _match(ctx: Context, node: Node) -> _Found | None:
    product, slot = node.inputs[0]
    padding = None
    if product.op == "Pad" and _is_ours(ctx, product):
        padding, (product, slot) = product, product.inputs[0]
    if product.op != "Mul" or slot or not _is_ours(ctx, product):
        return None
    weights = ctx.constant(node.inputs[1])
    if weights is None or weights.dtype not in (np.float32, np.float64):
        return None
    if len(ctx.users(node.inputs[1])) > 1:
        return None
    for data, factor in (product.inputs, product.inputs[::-1]):
        value = ctx.constant(factor)
        if value is None or value.ndim or value.dtype != weights.dtype:
            continue
        with np.errstate(all="ignore"):
            scaled = weights * value
        tiny = np.finfo(scaled.dtype).tiny
        lost = (np.abs(scaled) < tiny) & (weights != 0) & (value != 0)
        if np.isfinite(scaled).all() and value != 0 and not lost.any():
            return _Found(padding, product, data, np.asarray(scaled))
    return None


def _is_ours(ctx: Context, node: Node) -> bool:
    """Whether nothing but the layer sees what the node gives."""
    return not node.controls and ctx.only_user(node) and ctx.may_rewrite(node)


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    weights = node.inputs[1]
    scaled = ctx.add_constant(node, "weights", found.weights, weights[0].controls)
    waits = ctx.waits(o for o in found.product.inputs if o != found.data)
    data = found.data
    if found.padding is not None:
        ctx.graph.set_inputs(found.padding, [data, found.padding.inputs[1]])
        data = node.inputs[0]
    ctx.graph.set_inputs(node, [data, scaled, *node.inputs[2:]])
    if waits:
        ctx.graph.set_controls(node, [*node.controls, *waits])
    ctx.drop_unused(found.product)
    ctx.drop_unused(weights[0])


RULE: Final = Rule(
    "fold-input-scale", _LAYERS, _match, _apply, Numeric.REASSOCIATES, reads=("Mul", "Pad")
)
