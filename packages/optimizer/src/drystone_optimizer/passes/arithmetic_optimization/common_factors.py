"""A sum of products with one factor in common becomes the product of that and a sum: a x + a y.

Only if asked to be aggressive: a sum that grows too large is no longer made small first.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import inner

__all__ = ["RULE"]


class _Found(NamedTuple):
    factor: Output
    others: list[Output]
    products: list[Node]


def _match(ctx: Context, node: Node) -> _Found | None:
    if len(node.inputs) < 2 or getattr(node.attrs.get("T"), "label", "string") == "string":
        return None
    products = []
    for output in node.inputs:
        product = inner(ctx, output, ("Mul",))
        if product is None or product.device != node.device:
            return None
        products.append(product)
    for factor in dict.fromkeys(products[0].inputs):
        if not all(factor in product.inputs for product in products):
            continue
        others = [_other(product, factor) for product in products]
        shape = ctx.shape(others[0])
        if all(same_shape(shape, ctx.shape(other)) for other in others):
            return _Found(factor, others, products)
    return None


def _other(product: Node, factor: Output) -> Output:
    left, right = product.inputs
    return right if left == factor else left


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    attrs = {name: node.attrs[name] for name in ("T", "N") if name in node.attrs}
    total = ctx.add(node.op, node, "sum", found.others, attrs)
    ctx.become(node, "Mul", [found.factor, (total, 0)], {"T": node.attrs["T"]})
    for product in found.products:
        ctx.drop_unused(product)


RULE: Final = Rule(
    "common-factor", ("AddN", "Add", "AddV2"), _match, _apply, Numeric.APPROXIMATE,
    aggressive=True, reads=("Mul",),
)  # fmt: skip
