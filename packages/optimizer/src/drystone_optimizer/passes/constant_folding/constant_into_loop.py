"""A constant that enters a loop is one in there for what then reads constants alone, and is folded.

Only where it is the same in all iterations, and not through RefEnter, which hands a variable on.
What else reads it does so through the Enter as before: a constant of its own would be a node more.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.purity import is_pure
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


class _Found(NamedTuple):
    value: np.ndarray[Any, Any]
    users: list[Node]


def _match(ctx: Context, node: Node) -> _Found | None:
    value = _entering(ctx, (node, 0))
    if value is None or value.dtype.kind not in "fiubc":
        return None
    users = [user for user, _ in ctx.users((node, 0)) if _folds(ctx, user)]
    return _Found(value, list(dict.fromkeys(users))) if users else None


def _entering(ctx: Context, output: Output) -> np.ndarray[Any, Any] | None:
    """The constant that an Enter hands on in all iterations."""
    node = output[0]
    if node.op != "Enter" or output in ctx.fed or not node.attr("is_constant", False):
        return None
    return ctx.constant(node.inputs[0])


def _folds(ctx: Context, user: Node) -> bool:
    """Whether a node reads such constants alone, and will be folded once it reads them inside."""
    if not is_pure(user) or user in ctx.fed_nodes or user in ctx.unfoldable:
        return False
    return all(o[0].op == "Const" or _entering(ctx, o) is not None for o in user.inputs)


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    inside = ctx.add_constant(node, "inside", found.value, [node])
    for user in found.users:
        inputs = [inside if o == (node, 0) else o for o in user.inputs]
        ctx.graph.set_inputs(user, inputs)


RULE: Final = Rule("constant-into-loop", ("Enter",), _match, _apply)
