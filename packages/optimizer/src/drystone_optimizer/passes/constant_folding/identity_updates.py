"""Updates of a variable that add zeros, or multiply or divide by ones, only wait.

Where no element of the variable changes; a sum with +0 turns -0 into +0, so that is left to the
numeric class, and so is a difference with -0.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]

_ADD: Final = ("AssignAddVariableOp", "ResourceScatterAdd", "ResourceScatterNdAdd")
_SUB: Final = ("AssignSubVariableOp", "ResourceScatterSub", "ResourceScatterNdSub")
_SCALE: Final = ("ResourceScatterMul", "ResourceScatterDiv")


def _match(ctx: Context, node: Node) -> Numeric | None:
    value: Any = ctx.constant(node.inputs[-1])
    if value is None or value.dtype.kind not in "fiu":
        return None
    if node.op in _SCALE:
        return Numeric.EXACT if (value == 1).all() else None
    if (value != 0).any():
        return None
    wrong = np.signbit(value) if node.op in _SUB else ~np.signbit(value)
    rounds = value.dtype.kind == "f" and bool(wrong.any())
    numeric = Numeric.REASSOCIATES if rounds else Numeric.EXACT
    return numeric if numeric <= ctx.ceiling else None


def _apply(ctx: Context, node: Node, numeric: Numeric) -> None:
    ctx.numeric = max(ctx.numeric, numeric)
    lost = [source for source, _ in node.inputs]
    controls = [*node.controls, *ctx.waits(node.inputs)]
    ctx.become(node, "NoOp", (), {}, controls)
    for source in dict.fromkeys(lost):
        ctx.drop_unused(source)


RULE: Final = Rule("identity-update", (*_ADD, *_SUB, *_SCALE), _match, _apply)
