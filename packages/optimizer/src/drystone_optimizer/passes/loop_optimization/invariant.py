"""What is the same in all iterations is computed before the loop. Only where that is asked for.

A pure node of a loop of frames that reads nothing but values that enter unchanged moves before the
Enters, and its result enters in their place. Off by default as in TensorFlow: a loop that is never
entered would compute it in vain, and what fails in it would fail.
"""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.purity import is_pure
from drystone_optimizer.core.rules import Rule, apply_rules

__all__ = ["RULE", "run"]


def run(ctx: Context) -> None:
    """Move nodes out until none is left that could be; from inner loops into outer ones."""
    if any(node.op == "Enter" for node in ctx.graph):
        apply_rules(ctx, _RULES, sources_first=True)


def _match(ctx: Context, node: Node) -> list[Node] | None:
    """The Enters that a node reads, if nothing else; of one frame."""
    if not node.inputs or ctx.kept(node) or not is_pure(node):
        return None
    if any(control.op != "Enter" for control in node.controls):
        return None
    enters = [source for source, _ in node.inputs if source.op != "Const"]
    if not enters or any(not _unchanged(ctx, enter) for enter in enters):
        return None
    frames = {(e.attr("frame_name"), e.attr("parallel_iterations")) for e in enters}
    held = [source for source, _ in node.inputs if source.op == "Const"]
    if len(frames) > 1 or any(any(c.op != "Enter" for c in const.controls) for const in held):
        return None
    signature = ctx.signatures.of(node)
    if signature is None or len(signature.outputs or ()) != 1:
        return None
    return list(dict.fromkeys(enters))


def _unchanged(ctx: Context, node: Node) -> bool:
    if node.op != "Enter" or node in ctx.fed_nodes or node.controls:
        return False
    return bool(node.attr("is_constant", False))


def _apply(ctx: Context, node: Node, enters: list[Node]) -> None:
    graph, first = ctx.graph, enters[0]
    inputs = []
    for source, k in node.inputs:
        if source.op != "Const":
            inputs.append(source.inputs[0])
            continue
        value = ctx.constant((source, k))
        assert value is not None
        waits = ctx.waits([first.inputs[0]])
        inputs.append(ctx.add_constant(node, "outside", value, waits))
    attrs = {n: v for n, v in node.attrs.items() if not n.startswith("_")}
    before = ctx.add(node.op, node, "before", inputs, attrs)
    dtype = ctx.dtype((node, 0))
    names = ("frame_name", "parallel_iterations", "is_constant")
    frame = {name: first.attrs[name] for name in names if name in first.attrs}
    constants = [source for source, _ in node.inputs if source.op == "Const"]
    ctx.become(node, "Enter", [(before, 0)], frame | {"T": dtype}, ())
    waited = [c for const in constants for c in const.controls]
    for one in dict.fromkeys([*constants, *waited, *enters]):
        if not (graph.has_users(one) or ctx.kept(one) or one in ctx.fed_nodes):
            ctx.drop(one)


RULE: Final = Rule("loop-invariant", (), _match, _apply, aggressive=True)
_RULES: Final = (RULE,)
