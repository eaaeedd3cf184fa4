"""The larger of a layer's result and a part of it is LeakyRelu, which the layer's node computes.

The part is above 0 and at most 1: of more than 1 the larger is another one above zero, and 0 times
infinity is no number.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.remapping._layers import FUSED

__all__ = ["RULE"]


class _Found(NamedTuple):
    data: Output
    product: Node
    part: float


def _match(ctx: Context, node: Node) -> _Found | None:
    left, right = node.inputs
    for data, (product, slot) in ((left, right), (right, left)):
        if data[0].op not in FUSED or product.op != "Mul" or slot or data not in product.inputs:
            continue
        if product in ctx.fed_nodes or product.controls or not ctx.only_user(product):
            continue
        factor = product.inputs[1 if product.inputs[0] == data else 0]
        value = ctx.constant(factor)
        if value is None or value.ndim or value.dtype != np.float32 or not 0 < value <= 1:
            continue
        return _Found(data, product, float(value)) if keeps_native("Maximum", "LeakyRelu") else None
    return None


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    attrs = {"T": node.attrs["T"], "alpha": found.part}
    controls = [*node.controls, *ctx.waits(o for o in found.product.inputs if o != found.data)]
    ctx.become(node, "LeakyRelu", [found.data], attrs, controls)
    ctx.drop_unused(found.product)


RULE: Final = Rule("leaky-relu", ("Maximum",), _match, _apply, reads=("Mul",))
