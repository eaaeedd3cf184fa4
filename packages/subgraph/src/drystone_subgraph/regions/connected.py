"""What holds together among the nodes that a filter has left of a region."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["largest_piece"]


def largest_piece(
    edges: Sequence[Sequence[int]],
    region: Sequence[int],
    chosen: Collection[int],
) -> list[int]:
    """The largest part of ``chosen`` that is connected and has no node of ``region`` in between.

    ``region`` is ascending in topological order, and no path leaves it and comes back. ``edges``:
    what a node waits for. Among equally large parts it is the first.
    """
    kept, inside = set(chosen), set(region)
    level: dict[int, int] = {}
    for k in region:  # how often a path to k has left the chosen nodes
        arriving = [level[s] + (s in kept and k not in kept) for s in edges[k] if s in inside]
        level[k] = max(arriving, default=0)
    root = {k: k for k in kept}

    def find(k: int) -> int:
        while root[k] != k:
            root[k] = root[root[k]]
            k = root[k]
        return k

    for k in sorted(kept):
        for s in edges[k]:
            if s in kept and level[s] == level[k]:
                root[max(find(s), find(k))] = min(find(s), find(k))
    parts: dict[int, list[int]] = {}
    for k in sorted(kept):
        parts.setdefault(find(k), []).append(k)
    return max(parts.values(), key=len, default=[])
