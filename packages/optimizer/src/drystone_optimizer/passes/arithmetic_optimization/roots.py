"""A quotient by a square root becomes a product with Rsqrt."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> Node | None:
    inner, slot = node.inputs[1]
    if inner.op != "Sqrt" or slot or inner in ctx.fed_nodes or inner.controls:
        return None
    dtype = ctx.dtype((node, 0))
    if dtype is None or not dtype.is_floating or not keeps_native("Sqrt", "Rsqrt"):
        return None
    return inner if ctx.only_user(inner) and ctx.may_rewrite(inner) else None


def _apply(ctx: Context, node: Node, inner: Node) -> None:
    attrs = {"T": node.attrs["T"]}
    ctx.become(inner, "Rsqrt", inner.inputs, attrs)
    ctx.become(node, "Mul", node.inputs, attrs)


RULE: Final = Rule("rsqrt", ("RealDiv",), _match, _apply, Numeric.REASSOCIATES, reads=("Sqrt",))
