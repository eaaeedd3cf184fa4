"""An op after itself: nothing where it undoes itself, one where the second changes nothing."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_base.ops.properties import IDEMPOTENT, INVOLUTIONS
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULES"]

_UNDO: Final = tuple(sorted(INVOLUTIONS))
_SETTLE: Final = tuple(sorted(IDEMPOTENT))


def _match(ctx: Context, node: Node) -> Node | None:
    inner, slot = node.inputs[0]
    if inner.op != node.op or slot or inner in ctx.fed_nodes or inner.controls:
        return None
    return inner if ctx.may_rewrite(inner) else None


def _undo(ctx: Context, node: Node, inner: Node) -> None:
    ctx.bypass(node, inner.inputs[0])
    ctx.drop_unused(inner)


def _settle(ctx: Context, node: Node, inner: Node) -> None:
    ctx.bypass(node, (inner, 0))


RULES: Final = (
    Rule("involution", _UNDO, _match, _undo, reads=_UNDO),
    # The reciprocal of a tiny number is infinite, whose reciprocal is 0.
    Rule("involution-in-range", ("Reciprocal",), _match, _undo, Numeric.APPROXIMATE,
         reads=("Reciprocal",)),
    Rule("idempotent-op", _SETTLE, _match, _settle, reads=_SETTLE),
)  # fmt: skip
