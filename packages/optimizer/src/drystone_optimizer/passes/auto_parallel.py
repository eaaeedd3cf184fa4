"""Auto parallel: several GPUs run one training step at once, each with a part. Off by default.

What leads to gradients is copied, once for each replica; variables, constants and what is fed are
shared, queues are read by each. Gradients are divided by the number of replicas and applied once
for each, after all of them are there. That is the step of one device for plain gradient descent on
equal parts; other rules see several smaller gradients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, conditional_nodes, reachable
from drystone_base.ops.defs import find
from drystone_base.placement import Device, parse_device
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric

__all__ = ["PREFIX", "run"]

PREFIX: Final = "AutoParallel-Replica-"
_RULES: Final = (
    "GradientDescent", "ProximalGradientDescent", "Adadelta", "Adagrad", "ProximalAdagrad",
    "AdagradDA", "Ftrl", "Momentum", "Adam", "RMSProp", "CenteredRMSProp",
)  # fmt: skip
_APPLIES: Final = frozenset(f"{kind}Apply{rule}" for kind in ("", "Resource") for rule in _RULES)
_GRADIENTS: Final = ("grad", "delta")
_SHARED: Final = frozenset({
    "Const", "Placeholder", "PlaceholderWithDefault", "PlaceholderV2", "Variable", "VariableV2",
    "VarHandleOp", "HashTableV2", "HashTable", "FIFOQueueV2", "FIFOQueue", "RandomShuffleQueueV2",
    "RandomShuffleQueue", "PaddingFIFOQueueV2", "PaddingFIFOQueue", "IteratorV2",
    "OneShotIterator", "_Arg",
})  # fmt: skip
_READS_ON: Final = ("QueueDequeue", "IteratorGetNext", "ReaderRead")


class _Found(NamedTuple):
    """The updates, in order, the nodes to copy, and how many replicas there are."""

    applies: list[Node]
    copied: list[Node]
    replicas: int


def run(ctx: Context) -> None:
    """Copy the step, or record why not."""
    found = _match(ctx)
    if isinstance(found, str):
        ctx.decline(found)
    else:
        _apply(ctx, found)
        ctx.count("replicas", Numeric.APPROXIMATE, found.replicas - 1)


def _match(ctx: Context) -> _Found | str:
    """What to copy; a text says why nothing."""
    graph = ctx.graph
    replicas = ctx.config.auto_parallel_replicas or len(_gpus(ctx))
    applies = [node for node in graph if node.op in _APPLIES]
    if replicas < 2:
        return "there is one replica: no auto_parallel_replicas, and not several GPUs"
    if ctx.ceiling < Numeric.REASSOCIATES:
        return "gradients would be rounded otherwise, and the session is to be exact"
    if ctx.where or not applies:
        return "no op that applies a gradient"
    if any(node.name.startswith(PREFIX) for node in graph):
        return "the graph has replicas already"
    needed = reachable(applies)
    copied = [node for node in graph if node in needed and not _is_shared(ctx, node)]
    return _objection(ctx, applies, copied) or _Found(applies, copied, replicas)


def _gpus(ctx: Context) -> set[Device]:
    """The GPUs that are there and asked for, however they are spelled."""
    if "GPU" not in ctx.devices:
        return set()
    asked = {parse_device(node.device, node.name) for node in ctx.graph}
    return {one for one in asked if one.type == "GPU"}


def _is_shared(ctx: Context, node: Node) -> bool:
    return node.op in _SHARED or node in ctx.fed_nodes


def _objection(ctx: Context, applies: Sequence[Node], copied: Sequence[Node]) -> str:
    """Why the step cannot be copied; "" where it can."""
    updates = set(applies)
    if any(ctx.graph.consumers(node) for node in applies):
        return "the value of an update is read"
    sources = [s for node in applies for s in (*(s for s, _ in node.inputs), *node.controls)]
    if not updates.isdisjoint(reachable(sources)):
        return "an update waits for another one"
    inside = conditional_nodes(ctx.graph)
    for node in copied:
        if node in inside:
            return f"{node.name} belongs to a branch or a loop"
        if node not in updates and ctx.effects.level(node) == 2 and not _may_repeat(node):
            return f"{node.name} ({node.op}) has an effect that would be repeated"
    return _write_between(ctx, updates, copied)


def _write_between(ctx: Context, updates: set[Node], copied: Sequence[Node]) -> str:
    """What else in the step writes a variable that copies read, before all updates are done."""
    read = {s for node in copied for s, _ in node.inputs if _is_shared(ctx, s)}
    steps = [found for root in ctx.roots if updates & (found := set(reachable([ctx.graph[root]])))]
    for node in ctx.graph:
        if node in updates or node in copied or ctx.effects.level(node) < 2:
            continue
        writes = any(source in read for source, _ in node.inputs)
        if writes and any(node in found for found in steps) and updates - set(reachable([node])):
            return f"{node.name} ({node.op}) writes what a replica may not have read yet"
    return ""


def _may_repeat(node: Node) -> bool:
    """Whether each replica wants its own: the next from a queue, other random numbers."""
    definition = find(node.op)
    draws = definition is not None and "seed" in definition.attrs
    return draws or node.op.startswith(_READS_ON)


def _apply(ctx: Context, found: _Found) -> None:
    """The copies update first, in turn; so whatever waits for the update waits for all."""
    each = [_copy(ctx, found.copied, k) for k in range(1, found.replicas)]
    ready = [
        _divide(ctx, twins.get(node, node), found.replicas)
        for twins in (*each, {})
        for node in found.applies
    ]
    barrier = ctx.add("NoOp", found.applies[0], "all_gradients", (), {}, ready)
    for node in found.applies:
        turn = [*(twins[node] for twins in each), node]
        for before, after in zip([barrier, *turn], turn, strict=False):
            ctx.graph.add_control(after, before)


def _copy(ctx: Context, nodes: Sequence[Node], replica: int) -> Mapping[Node, Node]:
    twins = {
        node: ctx.graph.adopt(node, f"{PREFIX}{replica}/{node.name}") for node in nodes
    }  # in any order: inputs follow
    for node, twin in twins.items():
        ctx.graph.set_inputs(twin, [(twins.get(s, s), k) for s, k in node.inputs])
        ctx.graph.set_controls(twin, [twins.get(c, c) for c in node.controls])
        asked = parse_device(node.device, node.name)
        if asked.type == "GPU":
            ctx.graph.set_device(twin, str(replace(asked, index=replica)))
        ctx.graph.remove_attr(twin, "_class")
        ctx.note(twin)
    return twins


def _divide(ctx: Context, node: Node, replicas: int) -> Node:
    """Let an update take its part of the gradient; the node that gives the part."""
    definition = find(node.op)
    assert definition is not None
    slot = next(k for k, arg in enumerate(definition.inputs) if arg.name in _GRADIENTS)
    dtype: Any = node.attrs["T"]
    count = ctx.add_constant(node, "replicas", np.array(replicas, dtype.np))
    part = ctx.add("RealDiv", node, "part", [node.inputs[slot], count], {"T": dtype})
    ctx.graph.set_input(node, slot, (part, 0))
    return part
