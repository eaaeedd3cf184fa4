"""LogicalNot of a comparison becomes the opposite one.

Of floats only for Equal and NotEqual: NaN is neither less nor not less.
"""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]

_OPPOSITE: Final = {
    "Equal": "NotEqual",
    "NotEqual": "Equal",
    "Less": "GreaterEqual",
    "LessEqual": "Greater",
    "Greater": "LessEqual",
    "GreaterEqual": "Less",
}


def _match(ctx: Context, node: Node) -> Node | None:
    inner, slot = node.inputs[0]
    if inner.op not in _OPPOSITE or slot or inner in ctx.fed_nodes or inner.controls:
        return None
    dtype = ctx.dtype(inner.inputs[0])
    if dtype is None or not (inner.op in ("Equal", "NotEqual") or dtype.is_integer):
        return None
    return inner if ctx.only_user(inner) and ctx.may_rewrite(inner) else None


def _apply(ctx: Context, node: Node, inner: Node) -> None:
    attrs = {n: v for n, v in inner.attrs.items() if not n.startswith("_")}
    ctx.become(node, _OPPOSITE[inner.op], inner.inputs, attrs)
    ctx.drop(inner)


RULE: Final = Rule("negated-comparison", ("LogicalNot",), _match, _apply, reads=tuple(_OPPOSITE))
