"""Which vertices are computed in 16 bits.

Those of the allow list are. Denial flows on from the deny list through infer ops and what leads to
such. What lies between two that are allowed is allowed; so are clear ops beside them, in both
directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from drystone_optimizer.passes.auto_mixed_precision.type_graph import TypeGraph, Vertex

__all__ = ["paint"]

_FOLLOWING: Final = ("infer", "clear")


def paint(types: TypeGraph) -> set[Vertex]:
    """The vertices to change."""
    vertices = types.vertices
    allowed = {v for v in vertices if v.kind == "allow" and v.may_change}
    if not allowed:
        return allowed
    denied = _denied(vertices)

    def may_follow(vertex: Vertex) -> bool:
        return vertex.may_change and vertex not in denied and vertex.kind in _FOLLOWING

    below = _reached(allowed, lambda v: v.after, may_follow)
    above = _reached(allowed, lambda v: v.before, lambda v: v in below)
    allowed |= above
    return allowed | _reached(
        allowed,
        lambda v: [*v.before, *v.after],
        lambda v: v.kind == "clear" and may_follow(v),
    )


def _denied(vertices: Iterable[Vertex]) -> set[Vertex]:
    """What is denied by its list, or reads such and leads to an op that is not clear."""
    denied = {v for v in vertices if v.kind == "deny"}
    real = {v for v in vertices if v.kind in ("deny", "infer")}
    leading = real | _reached(real, lambda v: v.before, lambda v: v.kind == "clear")
    return denied | _reached(
        denied, lambda v: v.after, lambda v: v in leading and v.kind in _FOLLOWING
    )


def _reached(
    begin: Iterable[Vertex],
    near: Callable[[Vertex], Iterable[Vertex]],
    may_pass: Callable[[Vertex], bool],
) -> set[Vertex]:
    """Vertices that are reached by going on through those that may be passed."""
    stack, found = list(begin), set[Vertex]()
    while stack:
        for vertex in near(stack.pop()):
            if vertex not in found and may_pass(vertex):
                found.add(vertex)
                stack.append(vertex)
    return found
