"""Elements are moved as the narrower of two types.

Before a Cast that widens, after one that narrows. A move that drops elements never
comes after a Cast that it preceded.
"""

from __future__ import annotations

from typing import Final

from drystone_base.core.dtypes import DType
from drystone_base.graph import Node
from drystone_base.ops.properties import RESHAPES
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import inner

__all__ = ["RULES"]

_SAME: Final = (*sorted(RESHAPES), "Transpose", "ReverseV2")
_FEWER: Final = ("Slice", "StridedSlice")
_MOVES: Final = (*_SAME, *_FEWER)


def _widens(cast: Node) -> bool | None:
    """Whether a Cast gives more bytes than it reads; None where as many."""
    before, after = cast.attrs.get("SrcT"), cast.attrs.get("DstT")
    if not isinstance(before, DType) or not isinstance(after, DType):
        return None
    if before.is_object or after.is_object or before.size == after.size:
        return None
    return after.size > before.size


def _match_move(ctx: Context, node: Node) -> Node | None:
    cast = inner(ctx, node.inputs[0], ("Cast",))
    return cast if cast is not None and _widens(cast) else None


def _apply_move(ctx: Context, node: Node, cast: Node) -> None:
    _exchange(ctx, node, cast)


def _match_cast(ctx: Context, node: Node) -> Node | None:
    move = inner(ctx, node.inputs[0], _SAME)
    return move if move is not None and _widens(node) is False else None


def _apply_cast(ctx: Context, node: Node, move: Node) -> None:
    _exchange(ctx, node, move)


def _exchange(ctx: Context, node: Node, first: Node) -> None:
    """Do first what ``node`` does, which keeps its name, and then what ``first`` did."""
    data = first.inputs[0]
    outer, before = _own(node), _own(first)
    cast = node if node.op == "Cast" else first
    held = cast.attrs["DstT"] if cast is node else cast.attrs["SrcT"]
    move_attrs = (before if cast is node else outer) | {"T": held}
    first_attrs, last_attrs = (outer, move_attrs) if cast is node else (move_attrs, before)
    rest, moved = (first.inputs[1:], ()) if cast is node else ((), node.inputs[1:])
    new = ctx.add(node.op, node, "first", [data, *moved], first_attrs)
    ctx.become(node, first.op, [(new, 0), *rest], last_attrs)
    ctx.drop_unused(first)


def _own(node: Node) -> dict[str, object]:
    return {name: value for name, value in node.attrs.items() if not name.startswith("_")}


RULES: Final = (
    Rule("move-before-widening", _MOVES, _match_move, _apply_move, reads=("Cast",)),
    Rule("narrow-before-moving", ("Cast",), _match_cast, _apply_cast, reads=_SAME),
)
