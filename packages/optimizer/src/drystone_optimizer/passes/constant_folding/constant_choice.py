"""Select with a constant condition, all true or all false, becomes what it selects."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> Output | None:
    value = ctx.value(node.inputs[0])
    if value is None or not value.size or not (value.all() or not value.any()):
        return None
    chosen = node.inputs[1 if value.all() else 2]
    return chosen if same_shape(ctx.shape(chosen), ctx.shape((node, 0))) else None


def _apply(ctx: Context, node: Node, chosen: Output) -> None:
    ctx.bypass(node, chosen, node.inputs)


RULE: Final = Rule("constant-select", ("Select", "SelectV2"), _match, _apply)
