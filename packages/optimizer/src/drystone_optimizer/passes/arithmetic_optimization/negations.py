"""Sums and differences with a Neg become the other: a - (-b), a + (-b), (-a) + b.

And so do those with a product of a Neg: a + (-b) * c, a - (-b) * c.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULES"]


class _Found(NamedTuple):
    op: str
    left: Output
    right: Output
    neg: Node


def _match(ctx: Context, node: Node) -> _Found | None:
    left, right = node.inputs
    neg = _negation(ctx, right)
    if neg is not None:
        return _Found("AddV2" if node.op == "Sub" else "Sub", left, neg.inputs[0], neg)
    neg = _negation(ctx, left)
    if neg is None or node.op == "Sub":
        return None
    return _Found("Sub", right, neg.inputs[0], neg)


def _negation(ctx: Context, output: Output) -> Node | None:
    node, slot = output
    if node.op != "Neg" or slot or node in ctx.fed_nodes or node.controls:
        return None
    return node if ctx.may_rewrite(node) else None


class _Product(NamedTuple):
    op: str
    left: Output
    product: Node
    factors: list[Output]
    neg: Node


def _match_product(ctx: Context, node: Node) -> _Product | None:
    left, right = node.inputs
    pairs = [(left, right)] if node.op == "Sub" else [(left, right), (right, left)]
    for other, (product, slot) in pairs:
        if product.op != "Mul" or slot or product in ctx.fed_nodes or product.controls:
            continue
        if not ctx.only_user(product) or not ctx.may_rewrite(product):
            continue
        for k, factor in enumerate(product.inputs):
            neg = _negation(ctx, factor)
            if neg is not None and ctx.only_user(neg):
                factors = list(product.inputs)
                factors[k] = neg.inputs[0]
                op = "AddV2" if node.op == "Sub" else "Sub"
                return _Product(op, other, product, factors, neg)
    return None


def _apply_product(ctx: Context, node: Node, found: _Product) -> None:
    ctx.graph.set_inputs(found.product, found.factors)
    ctx.become(node, found.op, [found.left, (found.product, 0)], {"T": node.attrs["T"]})
    ctx.drop_unused(found.neg)


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.become(node, found.op, [found.left, found.right], {"T": node.attrs["T"]})
    ctx.drop_unused(found.neg)


_SUMS: Final = ("Sub", "Add", "AddV2")
RULES: Final = (
    Rule("add-of-negation", _SUMS, _match, _apply, reads=("Neg",)),
    Rule("add-of-negated-product", _SUMS, _match_product, _apply_product, reads=("Mul",)),
)
