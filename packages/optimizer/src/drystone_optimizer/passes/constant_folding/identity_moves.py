"""Ops that move or repeat elements become nothing where every element stays in its place.

Split of one part, Transpose and Reverse over sizes of 1, Slice and StridedSlice of all, Tile by
ones, Pad by nothing, Squeeze of nothing, RandomShuffle of one row, BroadcastTo of the same shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]


def _split(_: Context, node: Node) -> Output | None:
    data = node.inputs[1] if node.op == "Split" else node.inputs[0]
    return data if node.attrs.get("num_split") == 1 else None


def _transpose(ctx: Context, node: Node) -> Output | None:
    order = ctx.ints(node.inputs[1])
    if order is None:
        return None
    moved = [k for k, source in enumerate(order) if source not in (k, k - len(order))]
    if not moved:
        return node.inputs[0]
    shape = ctx.shape(node.inputs[0])
    if shape is None or len(shape) != len(order):
        return None
    return node.inputs[0] if all(shape[k] == 1 for k in moved) else None


def _reverse(ctx: Context, node: Node) -> Output | None:
    shape, value = ctx.shape(node.inputs[0]), ctx.value(node.inputs[1])
    if shape is None or value is None:
        return None
    flat = value.reshape(-1).tolist()
    axes = [k for k, yes in enumerate(flat) if yes] if node.op == "Reverse" else flat
    inside = all(-len(shape) <= k < len(shape) for k in axes)
    return node.inputs[0] if inside and all(shape[k] == 1 for k in axes) else None


def _slice(ctx: Context, node: Node) -> Output | None:
    begin, size = ctx.ints(node.inputs[1]), ctx.ints(node.inputs[2])
    shape = ctx.shape(node.inputs[0])
    if begin is None or size is None or any(begin):
        return None
    if all(n == -1 for n in size):
        return node.inputs[0]
    if shape is None or len(shape) != len(size):
        return None
    whole = all(n in (-1, d) for n, d in zip(size, shape, strict=True))
    return node.inputs[0] if whole else None


def _strided_slice(ctx: Context, node: Node) -> Output | None:
    if any(node.attr(f"{name}_mask") for name in ("ellipsis", "new_axis", "shrink_axis")):
        return None
    begin, end, step = (ctx.ints(output) for output in node.inputs[1:4])
    shape = ctx.shape(node.inputs[0])
    if begin is None or end is None or step is None or any(s != 1 for s in step):
        return None
    if shape is None or len(begin) > len(shape):
        return None
    free = (node.attr("begin_mask", 0), node.attr("end_mask", 0))
    for k, (first, last) in enumerate(zip(begin, end, strict=True)):
        from_start = free[0] >> k & 1 or first == 0
        to_end = free[1] >> k & 1 or 0 <= shape[k] <= last
        if not (from_start and to_end):
            return None
    return node.inputs[0]


def _tile(ctx: Context, node: Node) -> Output | None:
    times = ctx.ints(node.inputs[1])
    return node.inputs[0] if times is not None and all(n == 1 for n in times) else None


def _pad(ctx: Context, node: Node) -> Output | None:
    around = ctx.ints(node.inputs[1])
    return node.inputs[0] if around is not None and not any(around) else None


def _squeeze(ctx: Context, node: Node) -> Output | None:
    shape = ctx.shape(node.inputs[0])
    if shape is None or node.attr("squeeze_dims"):
        return None
    return node.inputs[0] if all(d >= 0 and d != 1 for d in shape) else None


def _shuffle(ctx: Context, node: Node) -> Output | None:
    shape = ctx.shape(node.inputs[0])
    return node.inputs[0] if shape is not None and (not shape or shape[0] == 1) else None


def _broadcast_to(ctx: Context, node: Node) -> Output | None:
    same = same_shape(ctx.shape(node.inputs[0]), ctx.shape((node, 0)))
    return node.inputs[0] if same else None


_TESTS: Final[dict[str, Callable[[Context, Node], Output | None]]] = {
    "Split": _split,
    "SplitV": _split,
    "Transpose": _transpose,
    "Reverse": _reverse,
    "ReverseV2": _reverse,
    "Slice": _slice,
    "StridedSlice": _strided_slice,
    "Tile": _tile,
    "Pad": _pad,
    "PadV2": _pad,
    "MirrorPad": _pad,
    "Squeeze": _squeeze,
    "RandomShuffle": _shuffle,
    "BroadcastTo": _broadcast_to,
}


def _match(ctx: Context, node: Node) -> Output | None:
    return _TESTS[node.op](ctx, node)


def _apply(ctx: Context, node: Node, data: Output) -> None:
    ctx.bypass(node, data, [output for output in node.inputs if output != data])


RULE: Final = Rule("identity-move", tuple(_TESTS), _match, _apply)
