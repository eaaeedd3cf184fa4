"""A convolution and a rectifier after it that has a slope for each channel.

relu(x) + slopes min(x, 0), and the forms that exporters write it in.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._layers import (
    become_own,
    channels_are_last,
    inner_layer,
    scalar,
)

__all__ = ["RULE"]


class _Found(NamedTuple):
    layer: Node
    slopes: np.ndarray[Any, Any]


def _match(ctx: Context, node: Node) -> _Found | None:
    left, right = node.inputs
    for (positive, _), (product, _) in ((left, right), (right, left)):
        if positive.op != "Relu" or product.op != "Mul" or not _are_inner(ctx, positive, product):
            continue
        for (negative, _), slopes in (product.inputs, product.inputs[::-1]):
            x = _negative_part(ctx, negative)
            if x is None or positive.inputs[0] != x:
                continue
            layer = inner_layer(ctx, x, node, (positive, negative))
            vector = None if layer is None else _vector(ctx, layer, slopes)
            if layer is not None and vector is not None:
                return _Found(layer, vector)
    return None


def _negative_part(ctx: Context, node: Node) -> Output | None:
    """``x`` of min(x, 0)."""
    if node.op != "Minimum" or not _are_inner(ctx, node):
        return None
    for x, zero in (node.inputs, node.inputs[::-1]):
        if scalar(ctx, zero) == 0:
            return x
    return None


def _are_inner(ctx: Context, *nodes: Node) -> bool:
    return all(ctx.only_user(n) and not n.controls and n not in ctx.fed_nodes for n in nodes)


def _vector(ctx: Context, layer: Node, slopes: Output) -> np.ndarray[Any, Any] | None:
    """One finite number for each channel; none else, as infinity times zero is not zero."""
    value, shape = ctx.constant(slopes), ctx.shape((layer, 0))
    if value is None or shape is None or len(shape) != 4 or not channels_are_last(layer):
        return None
    if shape[-1] < 1 or value.ndim > 4 or value.size not in (1, shape[-1]):
        return None
    if (value.size != 1 and value.shape[-1] != value.size) or not np.isfinite(value).all():
        return None
    return np.broadcast_to(value.reshape(-1), (shape[-1],)).copy()


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    vector = ctx.add_constant(node, "slopes", found.slopes)
    become_own(ctx, node, found.layer, found.layer.inputs[0], [vector], ["PRelu"])


RULE: Final = Rule(
    "slopes", ("Add", "AddV2"), _match, _apply, Numeric.REASSOCIATES, reads=("Relu",)
)
