"""Debug stripper: assertions and prints go, checks of numbers only pass them on. Off by default."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule, apply_rules

__all__ = ["RULES", "run"]


def run(ctx: Context) -> None:
    """Strip every such node."""
    apply_rules(ctx, RULES)


def _match(_: Context, __: Node) -> bool:
    return True


def _to_no_op(ctx: Context, node: Node, _: bool) -> None:
    """What it read is still waited for: in a branch that decides whether the node runs."""
    controls = [*node.controls, *(ctx.anchor(output) for output in dict.fromkeys(node.inputs))]
    ctx.become(node, "NoOp", (), {}, list(dict.fromkeys(controls)))


def _to_identity(ctx: Context, node: Node, _: bool) -> None:
    ctx.become_identity(node, node.inputs[0], node.inputs[1:])


RULES: Final = (
    Rule("strip-effect", ("Assert", "PrintV2"), _match, _to_no_op),
    Rule("strip-check", ("Print", "CheckNumerics", "CheckNumericsV2"), _match, _to_identity),
)
