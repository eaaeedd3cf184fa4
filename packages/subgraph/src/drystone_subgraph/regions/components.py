"""Regions of a selector that decides about each node by itself, found all at once.

Such a selector asks for parts of the graph: what it wants, as far as that is connected. Where the
parts, each made one node, leave no cycle, growing them node by node would give just them: of the
nodes still outside, the first of those that wait for the region is never blocked, and neither is
the last of those that the region waits for. Only parts in a cycle must be grown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["parts", "whole_parts"]


def parts(wanted: Iterable[int], reads: Sequence[Sequence[int]], kinds: Sequence[int]) -> list[int]:
    """For each node the first node of its part, -1 where it is in none.

    ``wanted`` is ascending. Nodes that read one another are in one part where they are of one
    of the ``kinds``.
    """
    root = [-1] * len(reads)
    for k in wanted:
        root[k] = first = k
        kind = kinds[k]
        for source in reads[k]:
            other = root[source]
            if other < 0 or kinds[source] != kind:
                continue
            while root[other] != other:
                root[other] = other = root[root[other]]
            if other < first:
                root[first] = first = other
            elif first < other:
                root[other] = first
    for k, other in enumerate(root):  # roots come before what they are the roots of
        if other >= 0:
            root[k] = root[other]
    return root


def whole_parts(
    root: Sequence[int], taken: Sequence[Sequence[int]], sources: Sequence[Sequence[int]]
) -> dict[int, list[int]]:
    """The parts that are in no cycle, ascending, by their first node; each is one region.

    ``taken``: what is one node already. ``sources``: what each node waits for.
    """
    group = [k if first < 0 else first for k, first in enumerate(root)]
    for region in taken:
        for k in region:
            group[k] = region[0]
    cyclic = _cyclic(group, sources)
    found: dict[int, list[int]] = {}
    for k, first in enumerate(root):
        if first >= 0 and first not in cyclic:
            found.setdefault(first, []).append(k)
    return found


def _cyclic(group: Sequence[int], sources: Sequence[Sequence[int]]) -> set[int]:
    """Groups in a cycle, and those between two cycles."""
    ahead: dict[int, list[int]] = {}
    back: dict[int, list[int]] = {}
    for k, own in enumerate(group):
        for source in sources[k]:
            other = group[source]
            if other != own:
                ahead.setdefault(other, []).append(own)
                back.setdefault(own, []).append(other)
    left = ahead.keys() | back.keys()
    for into, out in ((back, ahead), (ahead, back)):
        waiting = {k: sum(s in left for s in into.get(k, ())) for k in left}
        ready = [k for k, count in waiting.items() if not count]
        for k in ready:
            for other in out.get(k, ()):
                if other in left:
                    waiting[other] -= 1
                    if not waiting[other]:
                        ready.append(other)
        left = left.difference(ready)
        if not left:
            break
    return left
