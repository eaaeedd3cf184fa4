"""Rows that were gathered once for each different number, then summed, are summed from the table.

``SparseSegmentSum(Gather(table, unique), index of unique, segments)``, as embeddings of words are
looked up; so for means and square roots.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import inner

__all__ = ["RULE"]

_SEGMENTS: Final = tuple(
    f"SparseSegment{kind}{more}"
    for kind in ("Sum", "Mean", "SqrtN")
    for more in ("", "WithNumSegments")
)


class _Found(NamedTuple):
    gather: Node
    unique: Node
    numbers: Output


def _match(ctx: Context, node: Node) -> _Found | None:
    gather = inner(ctx, node.inputs[0], ("Gather", "GatherV2"))
    unique, slot = node.inputs[1]
    if gather is None or unique.op != "Unique" or slot != 1 or unique in ctx.fed_nodes:
        return None
    if gather.inputs[1] != (unique, 0) or unique.controls or gather.attr("batch_dims", 0):
        return None
    if gather.op == "GatherV2" and ctx.ints(gather.inputs[2]) != [0]:
        return None
    shape = ctx.shape(gather.inputs[0])
    if not shape or ctx.noticed(gather) is not ctx.noticed(node):
        return None
    return _Found(gather, unique, unique.inputs[0])


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    gather = found.gather
    inputs = [gather.inputs[0], found.numbers, *node.inputs[2:]]
    waits = ctx.waits(gather.inputs[2:])
    ctx.graph.set_attr(node, "Tidx", ctx.dtype(found.numbers))
    ctx.graph.set_inputs(node, inputs)
    if waits:
        ctx.graph.set_controls(node, [*node.controls, *waits])
    ctx.forget(node)
    ctx.drop_unused(gather)
    ctx.drop_unused(found.unique)


RULE: Final = Rule("embedding-sum", _SEGMENTS, _match, _apply)
