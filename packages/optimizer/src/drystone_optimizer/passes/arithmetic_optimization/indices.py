"""Numbers of rows and segments need no Cast that widens them: sums of segments take both types."""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import unseen

__all__ = ["RULE"]

_KINDS: Final = ("Sum", "Mean", "SqrtN")
_MORE: Final = ("Sum", "Mean", "Prod", "Max", "Min")
# The attribute that has the type of an input, by op and input.
_TYPES: Final[dict[str, dict[int, str]]] = {
    **{f"SparseSegment{k}{m}": {1: "Tidx", 2: "Tsegmentids"}
       for k in _KINDS for m in ("", "WithNumSegments")},
    **{f"Segment{k}": {1: "Tindices"} for k in _MORE},
    **{f"UnsortedSegment{k}": {1: "Tindices"} for k in _MORE if k != "Mean"},
}  # fmt: skip


def _match(ctx: Context, node: Node) -> dict[int, Node] | None:
    found = {}
    for k in _TYPES[node.op]:
        cast = unseen(ctx, node.inputs[k], ("Cast",))
        if cast is None or getattr(cast.attrs.get("SrcT"), "label", "") != "int32":
            continue
        if getattr(cast.attrs.get("DstT"), "label", "") == "int64":
            found[k] = cast
    return found or None


def _apply(ctx: Context, node: Node, casts: dict[int, Node]) -> None:
    for k, cast in casts.items():
        ctx.graph.set_attr(node, _TYPES[node.op][k], cast.attrs["SrcT"])
        ctx.graph.set_input(node, k, cast.inputs[0])
    ctx.forget(node)
    for cast in dict.fromkeys(casts.values()):
        ctx.drop_unused(cast)


RULE: Final = Rule("uncast-indices", tuple(_TYPES), _match, _apply)
