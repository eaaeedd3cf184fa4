"""An op that undoes itself across nodes that only arrange elements: f(reshape(f(x))).

Two or three such nodes in between at most, which nothing else reads.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node
from drystone_base.ops.properties import INVOLUTIONS, RESHAPES
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import inner

__all__ = ["RULE"]

_UNDO: Final = tuple(sorted(INVOLUTIONS))
_ARRANGE: Final = (
    *sorted(RESHAPES), "Identity", "Transpose", "ReverseV2", "BroadcastTo", "Tile", "Slice",
    "StridedSlice",
)  # fmt: skip
_MAX_BETWEEN: Final = 3


class _Found(NamedTuple):
    first: Node
    reader: Node


def _match(ctx: Context, node: Node) -> _Found | None:
    reader = inner(ctx, node.inputs[0], _ARRANGE)
    for _ in range(_MAX_BETWEEN):
        if reader is None:
            return None
        first = inner(ctx, reader.inputs[0], (node.op,))
        if first is not None:
            return _Found(first, reader)
        reader = inner(ctx, reader.inputs[0], _ARRANGE)
    return None


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    top = node.inputs[0]
    ctx.graph.set_input(found.reader, 0, found.first.inputs[0])
    ctx.bypass(node, top)
    ctx.drop_unused(found.first)


RULE: Final = Rule("involution-across-moves", _UNDO, _match, _apply, reads=_ARRANGE)
