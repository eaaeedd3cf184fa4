"""A slice of Pack along its axis that takes one element is the element."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node, Output
from drystone_optimizer.context import Context
from drystone_optimizer.rules import Rule

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> Output | None:
    """``Pack(a, b, ...)[k]``, the spelling of Python code that takes a shape apart."""
    pack, slot = node.inputs[0]
    if pack.op != "Pack" or slot or pack in ctx.fed_nodes or pack.controls:
        return None
    if pack.attr("axis", 0) != 0 or node.attr("shrink_axis_mask", 0) != 1:
        return None
    if any(node.attr(f"{name}_mask", 0) for name in ("ellipsis", "new_axis")):
        return None
    begin, end, step = (ctx.ints(output) for output in node.inputs[1:4])
    if begin is None or end is None or step is None or len(begin) != 1 or step != [1]:
        return None
    if node.attr("begin_mask", 0) or not ctx.may_rewrite(pack):
        return None
    at = begin[0] if begin[0] >= 0 else begin[0] + len(pack.inputs)
    return pack.inputs[at] if 0 <= at < len(pack.inputs) else None


def _apply(ctx: Context, node: Node, element: Output) -> None:
    pack = node.inputs[0][0]
    lost = [o for o in (*pack.inputs, *node.inputs[1:]) if o != element]
    ctx.bypass(node, element, lost)
    ctx.drop_unused(pack)


RULE: Final = Rule("element of a pack", ("StridedSlice",), _match, _apply)
