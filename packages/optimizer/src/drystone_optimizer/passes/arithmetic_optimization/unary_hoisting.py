"""Element-wise ops of a concatenation in place of those of each part; likewise before a split.

Chains of them together. Not where they read other element-wise work or a layer, with which they
become one node each.
"""

from __future__ import annotations

from typing import Any, Final

from drystone_base.graph import Node
from drystone_base.ops.properties import CORRECTLY_ROUNDED, ELEMENTWISE_UNARY
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import inner, is_elementwise

__all__ = ["RULES"]

_MAX_CHAIN: Final = 4


def _attrs(node: Node) -> dict[str, Any]:
    return {name: value for name, value in node.attrs.items() if not name.startswith("_")}


def _alike(nodes: list[Node]) -> bool:
    first = nodes[0]
    return all(n.op == first.op and _attrs(n) == _attrs(first) for n in nodes[1:])


def _numeric(op: str) -> Numeric:
    return Numeric.EXACT if op in CORRECTLY_ROUNDED else Numeric.REASSOCIATES


def _match_concat(ctx: Context, node: Node) -> list[list[Node]] | None:
    """The ops of all parts, from those that the node reads on."""
    sources, chain = list(node.inputs[:-1]), list[list[Node]]()
    while len(sources) > 1 and len(chain) < _MAX_CHAIN:
        level = [inner(ctx, output, ELEMENTWISE_UNARY) for output in sources]
        parts = [part for part in level if part is not None and part.device == node.device]
        if len(parts) < len(sources) or not _alike(parts) or _numeric(parts[0].op) > ctx.ceiling:
            break
        chain.append(parts)
        sources = [part.inputs[0] for part in parts]
    return chain if chain and not any(is_elementwise(source) for source, _ in sources) else None


def _apply_concat(ctx: Context, node: Node, chain: list[list[Node]]) -> None:
    ctx.numeric = max(ctx.numeric, *(_numeric(parts[0].op) for parts in chain))
    inputs = [*(part.inputs[0] for part in chain[-1]), node.inputs[-1]]
    last = ctx.add("ConcatV2", node, "whole", inputs, _attrs(node))
    for parts in reversed(chain[1:]):
        last = ctx.add(parts[0].op, node, "once", [(last, 0)], _attrs(parts[0]))
    top = chain[0]
    ctx.become(node, top[0].op, [(last, 0)], _attrs(top[0]))
    for part in top:
        ctx.drop_unused(part)


def _match_split(ctx: Context, node: Node) -> list[Node] | None:
    """The one reader of each output, where they all do the same and nothing waits for them."""
    users = ctx.graph.consumers(node)
    count = int(node.attr("num_split", 0))
    if count < 2 or len(users) != count or ctx.kept(node) or ctx.graph.control_consumers(node):
        return None
    parts = [user for user, _ in users]
    if len({user.inputs[0][1] for user in parts}) != count or any(k for _, k in users):
        return None
    for part in parts:
        if (
            part.op not in ELEMENTWISE_UNARY
            or part in ctx.fed_nodes
            or part.controls
            or ctx.kept(part)
        ):
            return None
        if part.device != node.device or any(is_elementwise(u) for u in ctx.graph.users(part)):
            return None
    return parts if _alike(parts) and _numeric(parts[0].op) <= ctx.ceiling else None


def _apply_split(ctx: Context, node: Node, parts: list[Node]) -> None:
    ctx.numeric = max(ctx.numeric, _numeric(parts[0].op))
    at = 1 if node.op == "Split" else 0
    whole = ctx.add(parts[0].op, node, "whole", [node.inputs[at]], _attrs(parts[0]))
    ctx.graph.set_input(node, at, (whole, 0))
    for part in parts:
        ctx.bypass(part, part.inputs[0])


RULES: Final = (
    Rule("hoist-unary-after-concat", ("ConcatV2",), _match_concat, _apply_concat,
         reads=tuple(ELEMENTWISE_UNARY)),
    Rule("hoist-unary-before-split", ("Split", "SplitV"), _match_split, _apply_split),
)  # fmt: skip
