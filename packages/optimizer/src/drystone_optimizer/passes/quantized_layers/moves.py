"""What only moves elements between floats of a grid and its integers moves the integers."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_base.ops.own import FROM_GRID, TO_GRID
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native_for
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.quantized_layers._grids import MOVERS

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> Node | None:
    mover, _ = node.inputs[0]
    if mover.op not in MOVERS or mover in ctx.fed_nodes or not ctx.only_user(mover):
        return None
    source, _ = mover.inputs[0]
    if source.op != FROM_GRID or source in ctx.fed_nodes or mover.controls:
        return None
    if not keeps_native_for(mover.op, "T", node.attrs["T"]):
        return None
    names = ("T", "scale", "zero", "first", "last")
    return mover if all(source.attrs[n] == node.attrs[n] for n in names) else None


def _apply(ctx: Context, node: Node, mover: Node) -> None:
    source, _ = mover.inputs[0]
    attrs = {name: value for name, value in mover.attrs.items() if name[0] != "_"}
    inputs = [source.inputs[0], *mover.inputs[1:]]
    ctx.become(node, mover.op, inputs, attrs | {"T": node.attrs["T"]})
    ctx.drop(mover)


RULE: Final = Rule("move-integers", (TO_GRID,), _match, _apply, Numeric.APPROXIMATE)
