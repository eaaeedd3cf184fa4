"""x times x becomes Square, and Square of a difference SquaredDifference."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native
from drystone_optimizer.core.rules import Rule

__all__ = ["RULES"]


def _match_product(_: Context, node: Node) -> bool | None:
    if node.inputs[0] != node.inputs[1] or not _allowed(node):
        return None
    return True if keeps_native("Mul", "Square") else None


def _allowed(node: Node) -> bool:
    return getattr(node.attrs.get("T"), "label", "") in (
        "bfloat16", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "complex64",
        "complex128",
    )  # fmt: skip


def _apply_product(ctx: Context, node: Node, _: bool) -> None:
    ctx.become(node, "Square", node.inputs[:1], {"T": node.attrs["T"]})


def _match_difference(ctx: Context, node: Node) -> Node | None:
    inner, slot = node.inputs[0]
    if inner.op != "Sub" or slot or inner in ctx.fed_nodes or inner.controls:
        return None
    dtype = ctx.dtype((node, 0))
    if dtype is None or dtype.label not in ("float16", "bfloat16", "float32", "float64"):
        return None
    return inner if ctx.only_user(inner) and keeps_native("Sub", "SquaredDifference") else None


def _apply_difference(ctx: Context, node: Node, inner: Node) -> None:
    ctx.become(node, "SquaredDifference", inner.inputs, {"T": node.attrs["T"]})
    ctx.drop(inner)


RULES: Final = (
    Rule("square", ("Mul",), _match_product, _apply_product),
    Rule("squared-difference", ("Square",), _match_difference, _apply_difference, reads=("Sub",)),
)
