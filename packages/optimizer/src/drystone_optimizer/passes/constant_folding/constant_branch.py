"""If and Case whose choice is constant become a call of the branch that is chosen."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.truth import truth
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]

_IFS: Final = ("If", "StatelessIf")
_CASES: Final = ("Case", "StatelessCase")


def _match(ctx: Context, node: Node) -> FunctionRef | None:
    value = ctx.value(node.inputs[0])
    if value is None:
        return None
    if node.op in _IFS:
        found = node.attrs.get("then_branch" if truth(value) else "else_branch")
    else:
        branches = node.attrs.get("branches") or []
        index = int(value.reshape(-1)[0]) if value.size == 1 else 0
        found = branches[index if 0 <= index < len(branches) else -1] if branches else None
    return found if isinstance(found, FunctionRef) else None


def _apply(ctx: Context, node: Node, branch: FunctionRef) -> None:
    choice, *args = node.inputs
    controls = [*node.controls, *ctx.waits([choice])]
    op = "PartitionedCall" if node.op.startswith("Stateless") else "StatefulPartitionedCall"
    attrs = {"Tin": node.attr("Tin") or [], "Tout": node.attr("Tout") or [], "f": branch}
    ctx.become(node, op, args, attrs, controls)


RULE: Final = Rule("constant-branch", (*_IFS, *_CASES), _match, _apply)
