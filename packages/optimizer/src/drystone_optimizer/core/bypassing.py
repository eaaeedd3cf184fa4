"""Taking out nodes that only pass something on: shared by pruning and dependency optimization."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_base.graph.rewiring import redirect
from drystone_base.ops.properties import IDENTITIES, SWITCHES
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.purity import gives_reference

__all__ = ["PASSING", "may_take_out", "passes_on", "take_out"]

_MERGES: Final = frozenset({"Merge", "RefMerge"})
PASSING: Final = (IDENTITIES - {"GuaranteeConst"}) | {"AddN", "AccumulateNV2"}
"""Ops whose outputs are their inputs; AddN and AccumulateNV2 where there is just one."""


def passes_on(ctx: Context, node: Node) -> bool:
    """Whether the node, which need not stay, only passes its inputs on to the same device."""
    if node.op not in PASSING or ctx.kept(node) or node in ctx.fed_nodes:
        return False
    if node.op in ("AddN", "AccumulateNV2") and len(node.inputs) != 1:
        return False
    if any(gives_reference(source.op) for source, _ in node.inputs):
        return False
    return _same_device(ctx, node) and not _joins(ctx, node)


def _joins(ctx: Context, node: Node) -> bool:
    """Whether the node makes its readers wait for more than they read, and that can be noticed."""
    return len(node.inputs) > 1 and any(ctx.noticed(source) for source, _ in node.inputs)


def _same_device(ctx: Context, node: Node) -> bool:
    device = node.device
    if not device or all(source.device == device for source, _ in node.inputs):
        return True
    return all(user.device == device for user, _ in ctx.graph.consumers(node))


def may_take_out(ctx: Context, node: Node) -> bool:
    """Whether the node can go without more edges, or a control edge that means something else."""
    graph, controls = ctx.graph, node.controls
    waiting = graph.control_consumers(node)
    if not (controls or waiting):
        return True
    sources = dict.fromkeys(source for source, _ in node.inputs)
    if waiting and any(source.op in SWITCHES for source in sources):
        return False  # a Switch itself is never dead
    readers = dict.fromkeys(user for user, _ in graph.consumers(node))
    if controls and any(user.op in _MERGES for user in readers):
        return False  # a Merge takes the first input that comes
    before = len(sources) + len(controls) + len(readers) + len(waiting)
    new = len(controls) * len(readers) + (len(sources) + len(controls)) * len(waiting)
    return new + len(readers) <= before


def take_out(ctx: Context, node: Node) -> None:
    """Join what the node reads and waits for with what reads and waits for it, and remove it."""
    graph, controls = ctx.graph, node.controls
    waiting = graph.control_consumers(node)
    sources = dict.fromkeys(source for source, _ in node.inputs)
    readers = dict.fromkeys(user for user, _ in graph.consumers(node)) if controls else ()
    if len(node.inputs) == 1:
        graph.redirect((node, 0), node.inputs[0])
    else:
        redirect(graph, node, node.inputs)
    for user in readers:
        graph.set_controls(user, [*user.controls, *controls])
    for user in waiting:
        others = [c for c in user.controls if c is not node]
        graph.set_controls(user, [*others, *sources, *controls])
    graph.remove(node)
    ctx.forget(node)
