"""An integer that shapes alone decide becomes a constant: Shape, Size, and what reads them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import from_numpy
from drystone_base.graph import Node
from drystone_base.graph.rewiring import redirect
from drystone_base.ops.properties import SHAPE_ONLY
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]

_OF_SHAPES: Final = (*sorted(SHAPE_ONLY), "BroadcastGradientArgs", "BroadcastArgs")
# Of integers only.
_MOVES: Final = (
    "Add", "AddV2", "Cast", "ConcatV2", "ExpandDims", "FloorDiv", "FloorMod", "Gather", "GatherV2",
    "Maximum", "Minimum", "Mul", "Pack", "Prod", "Range", "RealDiv", "Reshape", "Slice", "Squeeze",
    "StridedSlice", "Sub", "Unpack",
)  # fmt: skip


def _match(ctx: Context, node: Node) -> dict[int, np.ndarray[Any, Any]] | None:
    """The values of those outputs that are known and used."""
    first = ctx.dtype((node, 0))
    if first is None or first.label not in ("int32", "int64"):
        return None
    known = ctx.shapes.known(node).values
    found = {
        k: value
        for k, value in enumerate(known)
        if isinstance(value, np.ndarray) and from_numpy(value.dtype) is ctx.dtype((node, k))
    }
    if len(known) > 1:
        used = ctx.used(node)
        found = {k: value for k, value in found.items() if k in used}
        if ctx.kept(node):
            return None
    return found or None


def _apply(ctx: Context, node: Node, values: dict[int, np.ndarray[Any, Any]]) -> None:
    if len(ctx.shapes.known(node).values) == 1:
        lost = [source for source, _ in node.inputs]
        ctx.become_constant(node, values[0])
        for source in dict.fromkeys(lost):
            ctx.drop_unused(source)
        return
    controls = [*node.controls, *ctx.waits(node.inputs)]
    results = [
        ctx.add_constant(node, f"known_{k}", values[k], controls) if k in values else (node, k)
        for k in range(len(ctx.shapes.known(node).values))
    ]
    redirect(ctx.graph, node, results)
    ctx.drop_unused(node)


RULE: Final = Rule("materialize-shapes", (*_OF_SHAPES, *_MOVES), _match, _apply)
