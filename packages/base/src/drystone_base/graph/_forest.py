"""Paths that are seen at once: those along one edge into each node, which make a forest."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["Forest"]


class Forest:
    """Nodes below ``count``, each with the one above it, or -1; ``above`` has those above first.

    Nodes are numbered so that all below one are in a stretch. What is not in ``above`` is in none.
    """

    def __init__(self, count: int, above: Mapping[int, int]) -> None:
        self._first, self._end = [0] * count, [0] * count
        sizes = dict.fromkeys(above, 1)
        sizes[-1] = 0
        for node in reversed(above):
            sizes[above[node]] += sizes[node]
        free = {-1: 0}
        for node, parent in above.items():
            first = self._first[node] = free[parent]
            free[parent] = self._end[node] = first + sizes[node]
            free[node] = first + 1

    def leads(self, a: int, b: int) -> bool:
        """Whether ``b`` is below ``a``, or is it."""
        return self._first[a] <= self._first[b] < self._end[a]

    def join(self, kept: int, gone: int) -> None:
        """One node is now both: the stretch of the one that has more below it counts."""
        first, end = self._first, self._end
        if end[gone] - first[gone] > end[kept] - first[kept]:
            first[kept], end[kept] = first[gone], end[gone]
