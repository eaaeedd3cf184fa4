"""Scoped allocator: equal element-wise nodes run as one, on their inputs in one buffer.

Nodes of one of ``scoped_allocator_ops`` (default ``CollectiveReduce``), with the same attributes
and device and as far from the graph's beginning, become one node between
``_ScopedAllocatorConcat`` and ``_ScopedAllocatorSplit``. Off by default; runs after the last
iteration.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import prod
from typing import Final

from drystone_base.graph import Node, conditional_nodes, topological_order
from drystone_base.graph.topology import waits_for
from drystone_optimizer.core.context import Context

__all__ = ["run"]

# A sum over a group is one for each element; so are these of a single input.
_ELEMENTWISE: Final = frozenset({
    "CollectiveReduce", "Abs", "Ceil", "Cos", "Elu", "Erf", "Exp", "Expm1", "Floor", "Identity",
    "Inv", "Log", "Log1p", "Neg", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Selu",
    "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Square", "Tan", "Tanh",
})  # fmt: skip
_TURNS: Final = 8
# What tells members of a group apart, not groups.
_OWN: Final = frozenset({"instance_key", "_output_shapes", "_class"})


def run(ctx: Context) -> None:
    """Join each group of two nodes or more, and those that are as far down after that."""
    wanted = frozenset(ctx.config.scoped_allocator_ops)
    for op in sorted(wanted - _ELEMENTWISE):
        ctx.decline(f"{op} does not work element by element on one input")
    wanted &= _ELEMENTWISE
    if not any(node.op in wanted for node in ctx.graph):
        ctx.decline("no node of scoped_allocator_ops")
        return
    number = 0
    for turn in range(_TURNS):  # what is joined changes how far down others are
        for group in _groups(ctx, wanted, tell=not turn):
            number += 1
            _join(ctx, group, number)
            ctx.count(f"merge-{group[0].op}", times=len(group))


def _groups(ctx: Context, wanted: frozenset[str], *, tell: bool) -> list[list[Node]]:
    """Nodes that may run as one: none depends on another, as all are equally far down.

    ``tell``: say why nodes are left alone.
    """
    level = _levels(ctx)
    inside = conditional_nodes(ctx.graph)
    found: dict[Hashable, list[Node]] = {}
    for node in ctx.graph:
        if node.op not in wanted:
            continue
        why = _objection(ctx, node, inside)
        if why and tell:
            ctx.decline(why)
        if not why:
            found.setdefault(_key(node, level[node]), []).append(node)
    groups = []
    for nodes in found.values():
        apart = list({node.inputs[0]: node for node in reversed(nodes)}.values())
        if len(apart) > 1:
            groups.append(apart[::-1])
    return groups


def _levels(ctx: Context) -> Mapping[Node, int]:
    found: dict[Node, int] = {}
    for node in topological_order(ctx.graph):
        found[node] = 1 + max((found.get(source, 0) for source in waits_for(node)), default=0)
    return found


def _objection(ctx: Context, node: Node, inside: set[Node]) -> str:
    """Why a node cannot be joined with others; "" where it can."""
    if ctx.kept(node) or not ctx.may_rewrite(node):
        return "a node must stay"
    if node in inside:
        return "a node belongs to a branch or a loop"
    if _elements(ctx, node) is None:
        return "a tensor of unknown size"
    return ""


def _elements(ctx: Context, node: Node) -> int | None:
    shape = ctx.shape(node.inputs[0])
    return None if shape is None or min(shape, default=0) < 0 else int(prod(shape))


def _key(node: Node, level: int) -> Hashable:
    attrs = tuple(sorted((n, repr(v)) for n, v in node.full_attrs().items() if n not in _OWN))
    return (node.op, node.device, level, attrs)


def _join(ctx: Context, group: Sequence[Node], number: int) -> None:
    first, values = group[0], [node.inputs[0] for node in group]
    dtype = first.attrs["T"]
    shapes = [ctx.shape(value) for value in values]
    total = (sum(_elements(ctx, node) or 0 for node in group),)
    common = {"T": dtype, "sa_name": f"scoped_allocator_{number}", "id": number}
    buffer = ctx.add(
        "_ScopedAllocator", first, "buffer", (),
        {**common, "shapes": shapes, "shape": total, "expected_call_count": len(group)},
    )  # fmt: skip
    joined = ctx.add("_ScopedAllocatorConcat", first, "joined", [(buffer, 0), *values],
                     {**common, "shape": total, "reshape": False, "N": len(group)})  # fmt: skip
    attrs = {n: v for n, v in first.attrs.items() if n != "_output_shapes"}
    controls = list(dict.fromkeys(c for node in group for c in node.controls))
    one = ctx.add(first.op, first, "together", [(joined, 0)], attrs, controls)
    split = ctx.add("_ScopedAllocatorSplit", first, "apart", [(one, 0), *values],
                    {**common, "N": len(group), "shapes": shapes})  # fmt: skip
    for k, node in enumerate(group):
        ctx.graph.redirect((node, 0), (split, k))
        ctx.graph.redirect_controls(node, split)
    for node in group:
        ctx.graph.remove(node)
        ctx.forget(node)
