"""A slice of Pack along its axis that takes one element is the element.

``Pack(a, b, ...)[k]``, the spelling of Python code that takes a shape apart. Where the slice keeps
the axis it becomes ExpandDims of the element.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import unseen

__all__ = ["RULE"]


class _Found(NamedTuple):
    pack: Node
    element: Output
    axis: int
    keeps: bool


def _match(ctx: Context, node: Node) -> _Found | None:
    pack = unseen(ctx, node.inputs[0], ("Pack",))
    if pack is None:
        return None
    axis = int(pack.attr("axis", 0))
    if axis < 0:
        shape = ctx.shape(pack.inputs[0])
        if shape is None:
            return None
        axis += len(shape) + 1
    taken = _slice(ctx, node, axis) if node.op == "Slice" else _strided(ctx, node, axis)
    if taken is None:
        return None
    begin, keeps = taken
    at = begin + len(pack.inputs) if begin < 0 else begin
    if not 0 <= at < len(pack.inputs):
        return None
    return _Found(pack, pack.inputs[at], axis, keeps)


def _slice(ctx: Context, node: Node, axis: int) -> tuple[int, bool] | None:
    begin, size = ctx.ints(node.inputs[1]), ctx.ints(node.inputs[2])
    if begin is None or size is None or len(begin) != len(size) or axis >= len(begin):
        return None
    others = [k for k in range(len(begin)) if k != axis]
    whole = all(begin[k] == 0 and size[k] == -1 for k in others)
    return (begin[axis], True) if whole and size[axis] == 1 and begin[axis] >= 0 else None


def _strided(ctx: Context, node: Node, axis: int) -> tuple[int, bool] | None:
    if any(node.attr(f"{name}_mask", 0) for name in ("ellipsis", "new_axis")):
        return None
    begin, end, step = (ctx.ints(output) for output in node.inputs[1:4])
    if begin is None or end is None or step is None or any(s != 1 for s in step):
        return None
    bits = [int(node.attr(f"{name}_mask", 0)) for name in ("begin", "end", "shrink_axis")]
    if axis >= len(begin) or bits[0] >> axis & 1:
        return None
    for k in range(len(begin)):
        if k != axis and (not bits[0] >> k & 1 or not bits[1] >> k & 1 or bits[2] >> k & 1):
            return None
    if bits[2] >> axis & 1:
        return begin[axis], False
    one = end[axis] - begin[axis] == 1 and not bits[1] >> axis & 1 and begin[axis] >= 0
    return (begin[axis], True) if one else None


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    element = found.element
    lost = [o for o in (*found.pack.inputs, *node.inputs[1:]) if o != element]
    if found.keeps:
        controls = [*node.controls, *ctx.waits(lost)]
        axis = ctx.add_constant(node, "axis", np.array(found.axis, np.int32), ctx.waits([element]))
        attrs = {"T": node.attrs["T"], "Tdim": as_dtype("int32")}
        ctx.become(node, "ExpandDims", [element, axis], attrs, controls)
    else:
        ctx.bypass(node, element, lost)
    ctx.drop_unused(found.pack)


RULE: Final = Rule("slice-of-pack", ("StridedSlice", "Slice"), _match, _apply, reads=("Pack",))
