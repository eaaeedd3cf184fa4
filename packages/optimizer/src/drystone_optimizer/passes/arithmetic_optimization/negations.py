"""Sums and differences with a Neg become the other: a - (-b), a + (-b), (-a) + b."""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.context import Context
from drystone_optimizer.rules import Rule

__all__ = ["RULE"]


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


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.become(node, found.op, [found.left, found.right], {"T": node.attrs["T"]})
    ctx.drop_unused(found.neg)


RULE: Final = Rule("sum with a negation", ("Sub", "Add", "AddV2"), _match, _apply)
