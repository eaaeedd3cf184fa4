"""Joined operands: fused element-wise nodes read the parts of a concatenation in its place.

A densely connected network joins all that its layers gave, again before each layer, and what reads
that is a normalization: the copies are half of what goes through memory there. Where all readers of
a concatenation along the last axis are fused nodes, or concatenations of that kind, they read the
parts, and it is not made. Values stay the same to the bit.
"""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node, Output
from drystone_base.ops.own import FUSED_ELEMENTWISE
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape

__all__ = ["join_operands"]

_MOST_INPUTS: Final = 256  # of the kernel in drystone-cpu
_SHORTEST: Final = 8  # elements of a part's rows: copying shorter ones takes longer than the sum


def join_operands(ctx: Context) -> None:
    """Let fused nodes read parts, of concatenations that nothing else reads; last readers first."""
    gone: dict[Node, None] = {}
    for node in reversed(ctx.order()):
        if node.op == "ConcatV2" and _may_go(ctx, node) and _readers_join(ctx, node, gone):
            gone[node] = None
    if not gone:
        return
    for reader in [n for n in ctx.order() if n.op == FUSED_ELEMENTWISE]:
        if any(source in gone for source, _ in reader.inputs):
            _read_parts(ctx, reader, gone)
    for node in gone:
        ctx.drop_unused(node)


def _may_go(ctx: Context, node: Node) -> bool:
    """Whether the node joins parts along the last axis, and nothing but data leaves it."""
    shape, axis = ctx.shape((node, 0)), ctx.ints(node.inputs[-1])
    if not shape or not axis or axis[0] not in (-1, len(shape) - 1):
        return False
    if node.controls or ctx.kept(node) or not ctx.may_rewrite(node):
        return False
    if ctx.graph.control_consumers(node):
        return False
    parts = [ctx.shape(output) for output in node.inputs[:-1]]
    return all(part is not None and part[-1] >= _SHORTEST for part in parts)


def _readers_join(ctx: Context, node: Node, gone: dict[Node, None]) -> bool:
    shape, users = ctx.shape((node, 0)), ctx.graph.consumers(node)
    for user, _ in users:
        if user.device != node.device:
            return False
        if user in gone:
            continue
        if user.op != FUSED_ELEMENTWISE or not ctx.may_rewrite(user):
            return False
        if user.attr("joins", ()) or user.attr("slices", ()):
            return False
        if not same_shape(ctx.shape((user, 0)), shape):
            return False
        total = sum(len(_parts(source, gone)) for source in user.inputs)
        if total + len(_parts((node, 0), {**gone, node: None})) > _MOST_INPUTS:
            return False
    return bool(users)


def _parts(output: Output, gone: dict[Node, None]) -> list[Output]:
    """What an output is joined of; itself where it stays."""
    found: list[Output] = []
    stack = [output]
    while stack:
        source, slot = stack.pop()
        if source in gone:
            stack.extend(reversed(source.inputs[:-1]))
        else:
            found.append((source, slot))
    return found


def _read_parts(ctx: Context, reader: Node, gone: dict[Node, None]) -> None:
    inputs: list[Output] = []
    dtypes, joins = [], []
    for output, dtype in zip(reader.inputs, reader.attrs["Targs"], strict=True):
        parts = _parts(output, gone)
        inputs += parts
        dtypes += [dtype] * len(parts)
        joins.append(len(parts))
    attrs = {name: value for name, value in reader.attrs.items() if not name.startswith("_")}
    ctx.become(reader, FUSED_ELEMENTWISE, inputs, attrs | {"Targs": dtypes, "joins": joins})
    ctx.count("concat-operands")
