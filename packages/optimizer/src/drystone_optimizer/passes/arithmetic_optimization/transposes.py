"""Transpose of Transpose becomes one of them, or nothing; Conj and Transpose become one op."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULES"]


class _Found(NamedTuple):
    inner: Node
    order: list[int]


def _order(ctx: Context, node: Node) -> list[int] | None:
    """The permutation, if it is one that is known."""
    found = ctx.ints(node.inputs[1])
    return found if found is not None and sorted(found) == list(range(len(found))) else None


def _match(ctx: Context, node: Node) -> _Found | None:
    inner, slot = node.inputs[0]
    if inner.op != "Transpose" or slot or inner in ctx.fed_nodes or not ctx.may_rewrite(inner):
        return None
    outer, first = _order(ctx, node), _order(ctx, inner)
    if outer is None or first is None or len(outer) != len(first):
        return None
    order = [first[k] for k in outer]
    if order != sorted(order) and not ctx.only_user(inner):
        return None  # the inner one would run all the same
    return _Found(inner, order)


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    inner = found.inner
    data: Output = inner.inputs[0]
    lost = [node.inputs[1], *inner.inputs[1:]]
    controls = list(dict.fromkeys((*node.controls, *inner.controls, *ctx.waits(lost))))
    if found.order == sorted(found.order):
        ctx.become(node, "Identity", [data], {"T": ctx.dtype(data)}, controls)
    else:
        perm = np.array(found.order, np.int32)
        order = ctx.add_constant(node, "order", perm, ctx.waits([data]))
        attrs = {"T": node.attrs["T"], "Tperm": ctx.dtype(order)}
        ctx.become(node, "Transpose", [data, order], attrs, controls)
    ctx.drop_unused(inner)


def _match_conjugate(ctx: Context, node: Node) -> Node | None:
    inner, slot = node.inputs[0]
    wanted = "Transpose" if node.op == "Conj" else "Conj"
    if inner.op != wanted or slot or inner in ctx.fed_nodes or inner.controls:
        return None
    return inner if ctx.only_user(inner) else None


def _apply_conjugate(ctx: Context, node: Node, inner: Node) -> None:
    transpose = inner if node.op == "Conj" else node
    inputs = [inner.inputs[0], transpose.inputs[1]]
    attrs = {n: transpose.attrs[n] for n in ("T", "Tperm") if n in transpose.attrs}
    ctx.become(node, "ConjugateTranspose", inputs, attrs)
    ctx.drop(inner)


RULES: Final = (
    Rule("transpose-of-transpose", ("Transpose",), _match, _apply, reads=("Transpose",)),
    Rule("conjugate-transpose", ("Conj", "Transpose"), _match_conjugate, _apply_conjugate,
         reads=("Conj", "Transpose")),
)  # fmt: skip
