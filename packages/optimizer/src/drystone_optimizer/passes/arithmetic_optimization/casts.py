"""Cast to the same type goes, and Bitcast of Bitcast becomes one."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULES"]


def _match_cast(_: Context, node: Node) -> bool | None:
    return True if node.attrs.get("SrcT") is node.attrs.get("DstT") else None


def _apply_cast(ctx: Context, node: Node, _: bool) -> None:
    ctx.bypass(node, node.inputs[0])


def _match_bitcast(ctx: Context, node: Node) -> bool | None:
    if node.attrs.get("T") is node.attrs.get("type"):
        return True
    inner, slot = node.inputs[0]
    if inner.op != "Bitcast" or slot or inner in ctx.fed_nodes or inner.controls:
        return None
    return True if ctx.may_rewrite(inner) else None


def _apply_bitcast(ctx: Context, node: Node, _: bool) -> None:
    if node.attrs.get("T") is node.attrs.get("type"):
        ctx.bypass(node, node.inputs[0])
        return
    inner = node.inputs[0][0]
    attrs = {"T": inner.attrs["T"], "type": node.attrs["type"]}
    ctx.become(node, "Bitcast", [inner.inputs[0]], attrs)
    ctx.drop_unused(inner)


RULES: Final = (
    Rule("identity-cast", ("Cast",), _match_cast, _apply_cast),
    Rule("bitcast-of-bitcast", ("Bitcast",), _match_bitcast, _apply_bitcast),
)
