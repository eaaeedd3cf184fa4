"""A layered layout: boxes in rows, edges running downwards, few crossings, straight long edges.

The four steps of Sugiyama, Tagawa and Toda (1981): layers by longest path, dummies for edges that
pass through layers, barycentre ordering, coordinates. The last one is solved exactly for each
layer: least squares under a fixed order, by pooling adjacent violators.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

__all__ = ["Layout", "Point", "lay_out"]

Point: TypeAlias = tuple[float, float]

_GAP: Final = 22.0  # between neighbours in a layer
_DUMMY_GAP: Final = 12.0
_ROW_GAP: Final = 36.0
_THIN: Final = 8.0  # a layer of ports or dummies only is no taller, and needs less room
_THIN_GAP: Final = 18.0
_SWEEPS: Final = 8
_ALIGNMENTS: Final = 6


@dataclass
class Layout:
    """Where things are: top left corners of boxes, points of edges, and the size of it all."""

    corners: list[Point]
    routes: list[list[Point]]
    width: float
    height: float


def lay_out(
    sizes: Sequence[Point],
    edges: Sequence[tuple[int, int]],
    *,
    first: Collection[int] = (),
    last: Collection[int] = (),
) -> Layout:
    """Place boxes of the given sizes; boxes in ``first`` and ``last`` keep to the outer layers.

    An edge in a cycle is drawn upwards. Routes run from the bottom of the source, straight to the
    bottom of its layer, by way of the layers between, to the top of the target.
    """
    if not sizes:
        return Layout([], [], 0.0, 0.0)
    forward = _break_cycles(len(sizes), edges)
    layer = _layers(len(sizes), forward, first, last)
    net = _Net(sizes, forward, layer)
    net.order()
    net.align()
    return net.result([(a, b) == edge for edge, (a, b) in zip(edges, forward, strict=True)])


def _break_cycles(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges with those turned round that lead back into a path from a source."""
    after: list[list[int]] = [[] for _ in range(count)]
    entered = [False] * count
    for a, b in edges:
        after[a].append(b)
        entered[b] = True
    state = [0] * count  # 0 new, 1 on the path, 2 done
    back = set()
    for root in sorted(range(count), key=lambda k: entered[k]):
        stack = [(root, iter(after[root]))] if not state[root] else []
        state[root] = state[root] or 1
        while stack:
            node, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                state[node] = 2
                stack.pop()
            elif state[target] == 1:
                back.add((node, target))
            elif state[target] == 0:
                state[target] = 1
                stack.append((target, iter(after[target])))
    return [(b, a) if (a, b) in back else (a, b) for a, b in edges]


def _layers(
    count: int,
    edges: Sequence[tuple[int, int]],
    first: Collection[int],
    last: Collection[int],
) -> list[int]:
    """Longest path from a source; sources then move down to what reads them."""
    after: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for a, b in edges:
        if a != b:
            after[a].append(b)
            waiting[b] += 1
    start = 1 if first else 0
    layer = [0 if k in first else start for k in range(count)]
    order = [k for k in range(count) if not waiting[k]]
    for node in order:
        for target in after[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    sources = set(range(count)) - {b for a, b in edges if a != b} - set(first)
    for node in order:
        if node in sources and after[node]:
            layer[node] = min(layer[t] for t in after[node]) - 1
    bottom = max(layer)
    if last:
        inner = max((layer[k] for k in range(count) if k not in last), default=-1)
        bottom = max(bottom, inner + 1)
    return [bottom if k in last else layer[k] for k in range(count)]


class _Net:
    """Boxes and dummies in layers, with edges between neighbouring layers only."""

    def __init__(
        self, sizes: Sequence[Point], edges: Sequence[tuple[int, int]], layer: Sequence[int]
    ) -> None:
        self.sizes = list(sizes)
        self.real = len(sizes)
        self.rows: list[list[int]] = [[] for _ in range(max(layer) + 1)]
        for node, row in enumerate(layer):
            self.rows[row].append(node)
        self.layer = list(layer)
        self.chains = [self._chain(a, b) for a, b in edges]
        self.up: list[list[int]] = [[] for _ in self.sizes]
        self.down: list[list[int]] = [[] for _ in self.sizes]
        for chain in self.chains:
            for a, b in pairwise(chain):
                self.down[a].append(b)
                self.up[b].append(a)
        self.x = [0.0] * len(self.sizes)

    def _chain(self, a: int, b: int) -> list[int]:
        """The edge as a path of nodes, one a layer."""
        chain = [a]
        for row in range(self.layer[a] + 1, self.layer[b]):
            chain.append(len(self.sizes))
            self.rows[row].append(len(self.sizes))
            self.sizes.append((1.0, 0.0))
            self.layer.append(row)
        return [*chain, b] if a != b else [a]

    def order(self) -> None:
        """Sort each layer by the mean place of its neighbours, downwards and upwards in turn."""
        best, fewest = [list(row) for row in self.rows], self.crossings()
        for sweep in range(_SWEEPS):
            near = self.up if sweep % 2 == 0 else self.down
            rows = self.rows if sweep % 2 == 0 else self.rows[::-1]
            place = {node: k for row in self.rows for k, node in enumerate(row)}
            for row in rows:
                row.sort(
                    key=lambda n: (
                        sum(place[m] for m in near[n]) / len(near[n]) if near[n] else place[n]
                    )
                )
                place.update((node, k) for k, node in enumerate(row))
            crossings = self.crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
        self.rows = best

    def crossings(self) -> int:
        """How many pairs of edges cross, counted layer by layer with a Fenwick tree."""
        total = 0
        for upper, lower in pairwise(self.rows):
            place = {node: k for k, node in enumerate(lower)}
            tree = [0] * (len(lower) + 1)
            seen = 0
            for node in upper:
                targets = [place[m] for m in self.down[node] if m in place]
                for target in targets:
                    total += seen - _prefix(tree, target + 1)
                for target in targets:
                    _increment(tree, target + 1)
                seen += len(targets)
        return total

    def align(self) -> None:
        """Give every node the x that brings it nearest to its neighbours, order and gaps kept."""
        for row in self.rows:
            self._settle(row, [0.0] * len(row))
        for sweep in range(_ALIGNMENTS):
            near = (self.up, self.down)[sweep % 2]
            for row in self.rows if sweep % 2 == 0 else self.rows[::-1]:
                wanted = [
                    sum(self.x[m] for m in near[n]) / len(near[n]) if near[n] else self.x[n]
                    for n in row
                ]
                self._settle(row, wanted)

    def _settle(self, row: list[int], wanted: list[float]) -> None:
        """The x nearest to ``wanted`` (least squares) that keep the order and the gaps."""
        offsets = [0.0]
        for a, b in pairwise(row):
            gap = _DUMMY_GAP if a >= self.real or b >= self.real else _GAP
            offsets.append(offsets[-1] + (self.sizes[a][0] + self.sizes[b][0]) / 2 + gap)
        blocks: list[tuple[float, float, int]] = []  # mean, weight, members
        for node, aim, offset in zip(row, wanted, offsets, strict=True):
            mean, weight, members = aim - offset, 1.0 if node < self.real else 3.0, 1
            while blocks and blocks[-1][0] > mean:
                other, more, count = blocks.pop()
                mean = (mean * weight + other * more) / (weight + more)
                weight, members = weight + more, members + count
            blocks.append((mean, weight, members))
        means = [mean for mean, _, members in blocks for _ in range(members)]
        for node, mean, offset in zip(row, means, offsets, strict=True):
            self.x[node] = mean + offset

    def result(self, is_forward: Sequence[bool]) -> Layout:
        """Coordinates from the top left; turned edges are turned back."""
        heights = [max((self.sizes[n][1] for n in row), default=0.0) for row in self.rows]
        tops = [0.0]
        for height, following in pairwise([*heights, 0.0]):
            gap = _ROW_GAP if min(height, following) > _THIN else _THIN_GAP
            tops.append(tops[-1] + height + gap)
        left = min(x - size[0] / 2 for x, size in zip(self.x, self.sizes, strict=True))
        right = max(x + size[0] / 2 for x, size in zip(self.x, self.sizes, strict=True))
        corners = [
            (
                self.x[n] - left - w / 2,
                tops[self.layer[n]],
            )
            for n, (w, _) in enumerate(self.sizes)
        ]
        routes = []
        for chain, forward in zip(self.chains, is_forward, strict=True):
            route = self._route(chain, corners, tops, heights)
            routes.append(route if forward else route[::-1])
        return Layout(corners[: self.real], routes, right - left, tops[-1] - _THIN_GAP)

    def _route(
        self, chain: list[int], corners: list[Point], tops: list[float], heights: list[float]
    ) -> list[Point]:
        def middle(node: int) -> float:
            return corners[node][0] + self.sizes[node][0] / 2

        start, end = chain[0], chain[-1]
        row = self.layer[start]
        bottom = corners[start][1] + self.sizes[start][1]
        route = [(middle(start), bottom), (middle(start), tops[row] + heights[row])]
        for dummy in chain[1:-1]:
            top = tops[self.layer[dummy]]
            route += [(middle(dummy), top), (middle(dummy), top + heights[self.layer[dummy]])]
        return [*route, (middle(end), corners[end][1])]


def _prefix(tree: list[int], end: int) -> int:
    total = 0
    while end > 0:
        total += tree[end]
        end -= end & -end
    return total


def _increment(tree: list[int], place: int) -> None:
    while place < len(tree):
        tree[place] += 1
        place += place & -place
