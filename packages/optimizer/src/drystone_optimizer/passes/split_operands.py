"""Sliced operands: fused element-wise nodes read pieces of a tensor in place of a split.

A cell of a recurrent layer multiplies once for all of its gates and splits the product; what reads
a piece is element by element. Where all readers of a split along the last axis are fused nodes, or
can be, they read where the pieces lie, and nothing is copied. Values stay the same to the bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drystone_base.graph import Node, Output
from drystone_base.ops.own import FUSED_ELEMENTWISE, FUSES, LOGIC
from drystone_optimizer.core.context import Context

if TYPE_CHECKING:
    from drystone_base.inference.inference import Shapes

__all__ = ["slice_operands"]

_SHORTEST: Final = 8  # elements of a piece's rows: copying shorter ones takes longer than the rest
_VALUE: Final = {"Split": 1, "SplitV": 0}
_AXIS: Final = {"Split": 0, "SplitV": 2}


def slice_operands(ctx: Context) -> None:
    """Let fused nodes read pieces, of splits that nothing else reads."""
    splits = [node for node in ctx.order() if node.op in _VALUE]
    shapes = ctx.shapes_in_use() if splits else ctx.shapes
    for node in splits:
        widths = _widths(ctx, shapes, node)
        if not widths or not all(_may_slice(ctx, node, u) for u, _ in ctx.graph.consumers(node)):
            continue
        readers = dict.fromkeys(user for user, _ in ctx.graph.consumers(node))
        for reader in readers:
            _read_pieces(ctx, reader, node, widths)
        ctx.drop_unused(node)


def _widths(ctx: Context, shapes: Shapes, node: Node) -> list[int]:
    """Elements of each piece of the last dimension; none where it is not that which is split."""
    value = shapes.shape(node.inputs[_VALUE[node.op]])
    axis = ctx.ints(node.inputs[_AXIS[node.op]])
    if not value or not axis or axis[0] not in (-1, len(value) - 1) or not ctx.may_rewrite(node):
        return []
    if node.controls or ctx.kept(node) or ctx.graph.control_consumers(node):
        return []
    pieces = [shapes.shape((node, k)) for k in range(int(node.attr("num_split", 0)))]
    widths = [piece[-1] if piece else -1 for piece in pieces]
    fits = bool(widths) and min(widths) >= _SHORTEST and sum(widths) == value[-1]
    return widths if fits else []


def _may_slice(ctx: Context, node: Node, user: Node) -> bool:
    """Whether a reader is a fused node, or can be one by itself."""
    if user.device != node.device or not ctx.may_rewrite(user):
        return False
    if user.op == FUSED_ELEMENTWISE:
        return True
    dtype = ctx.dtype((node, 0))
    known = dtype is not None and user.op in FUSES.get(dtype.label, ()) and user.op not in LOGIC
    return known and all(ctx.dtype(o) is not None for o in (*user.inputs, (user, 0)))


def _alone(ctx: Context, node: Node) -> None:
    """Make a fused node of one element-wise one."""
    numbers = {output: k for k, output in enumerate(dict.fromkeys(node.inputs))}
    attrs = {
        "Targs": [ctx.dtype(output) for output in numbers],
        "T": node.attrs["T"],
        "Tout": ctx.dtype((node, 0)),
        "ops": [node.op],
        "operands": [numbers[output] for output in node.inputs],
    }
    ctx.become(node, FUSED_ELEMENTWISE, list(numbers), attrs)


def _read_pieces(ctx: Context, reader: Node, node: Node, widths: list[int]) -> None:
    if reader.op != FUSED_ELEMENTWISE:
        _alone(ctx, reader)
    inputs: list[Output] = list(reader.inputs)
    slices = list(reader.attr("slices", ()) or [0, -1] * len(inputs))
    for k, (source, piece) in enumerate(inputs):
        if source is node:
            inputs[k] = node.inputs[_VALUE[node.op]]
            slices[2 * k : 2 * k + 2] = [sum(widths[:piece]), widths[piece]]
    attrs = {name: value for name, value in reader.attrs.items() if not name.startswith("_")}
    ctx.become(reader, FUSED_ELEMENTWISE, inputs, attrs | {"slices": slices})
    ctx.count("split-operands")
