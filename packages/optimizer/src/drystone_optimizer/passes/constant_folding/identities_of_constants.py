"""What reads a constant by way of IdentityN reads it itself."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> list[int] | None:
    held = [k for k, output in enumerate(node.inputs) if ctx.constant(output) is not None]
    return [k for k in held if ctx.users((node, k))] or None


def _apply(ctx: Context, node: Node, slots: list[int]) -> None:
    waits = bool(node.controls) or ctx.noticed(node)
    for k in slots:
        held = node.inputs[k]
        value = ctx.constant(held)
        assert value is not None
        known = ctx.add_constant(node, f"known_{k}", value, [node]) if waits else held
        ctx.graph.redirect((node, k), known)


RULE: Final = Rule("identity-of-constants", ("IdentityN",), _match, _apply, reads=("Const",))
