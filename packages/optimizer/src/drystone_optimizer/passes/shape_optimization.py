"""Shape optimization: numbers of elements without going through shapes."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Rule, apply_rules

__all__ = ["RULES", "run"]


def run(ctx: Context) -> None:
    """Apply both rules until none matches."""
    apply_rules(ctx, RULES)


def _match_product(ctx: Context, node: Node) -> Node | None:
    """``Prod(Shape(x), [0])``, without keeping the axis."""
    shape, slot = node.inputs[0]
    if shape.op != "Shape" or slot or shape in ctx.fed_nodes or node.attr("keep_dims", False):
        return None
    axes = ctx.ints(node.inputs[1])
    if axes not in ([0], [-1]) or shape.controls or not ctx.may_rewrite(shape):
        return None
    return shape if keeps_native("Prod", "Size") else None


def _apply_product(ctx: Context, node: Node, shape: Node) -> None:
    data: Output = shape.inputs[0]
    attrs = {"T": shape.attrs["T"], "out_type": node.attrs["T"]}
    controls = [*node.controls, *ctx.waits(node.inputs[1:])]
    ctx.become(node, "Size", [data], attrs, controls)
    ctx.drop_unused(shape)


def _match_quotient(ctx: Context, node: Node) -> np.ndarray[Any, Any] | None:
    """``Size(x) / Size(y)`` where unknown sizes cancel; were one 0, the division would fail."""
    sizes = []
    for source, slot in node.inputs:
        if source.op != "Size" or slot or source in ctx.fed_nodes:
            return None
        shape = ctx.shape(source.inputs[0])
        if shape is None or -1 in shape:
            return None
        sizes.append(shape)
    above, below = (Counter(d for d in shape if d < 0) for shape in sizes)
    top, bottom = (int(np.prod([d for d in shape if d >= 0], dtype=object)) for shape in sizes)
    if above != below or not bottom:
        return None
    dtype = ctx.dtype((node, 0))
    return None if dtype is None else np.array(top // bottom, dtype.np)


def _apply_quotient(ctx: Context, node: Node, value: np.ndarray[Any, Any]) -> None:
    ctx.become_constant(node, value)


RULES: Final = (
    Rule("product-of-shape", ("Prod",), _match_product, _apply_product),
    Rule("quotient-of-sizes", ("Div", "FloorDiv"), _match_quotient, _apply_quotient),
)
