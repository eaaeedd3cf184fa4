"""Contracting a graph: the answers are those of a plain search, the order is always one."""

from __future__ import annotations

import random

import pytest

from drystone_base.graph import acyclic
from drystone_base.graph.acyclic import AcyclicGraph


class _Plain:
    """The same questions, answered by searching the whole graph."""

    def __init__(self, count: int, edges: set[tuple[int, int]]) -> None:
        self.groups = {k: k for k in range(count)}
        self.edges = set(edges)

    def reaches(self, a: int, b: int) -> bool:
        return self.walk({self.groups[a]}, self.groups[b])

    def walk(self, start: set[int], goal: int) -> bool:
        seen, todo = set(start), list(start)
        while todo:
            node = todo.pop()
            if node == goal:
                return True
            found = {b for a, b in self.edges if a == node} - seen
            seen |= found
            todo += found
        return False

    def contract(self, a: int, b: int) -> bool:
        a, b = self.groups[a], self.groups[b]
        if a == b:
            return True
        for x, y in ((a, b), (b, a)):
            if self.walk({t for f, t in self.edges if f == x} - {y}, y):
                return False
        self.groups = {k: a if g == b else g for k, g in self.groups.items()}
        renamed = {(a if f == b else f, a if t == b else t) for f, t in self.edges}
        self.edges = {(f, t) for f, t in renamed if f != t}
        return True

    def add_edge(self, a: int, b: int) -> bool:
        if self.reaches(b, a):
            return False
        self.edges.add((self.groups[a], self.groups[b]))
        return True


@pytest.mark.parametrize("patience", [0, 4])
@pytest.mark.parametrize("seed", range(60))
def test_answers_are_those_of_a_plain_search(
    seed: int, patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the forest of known paths is laid out over and over."""
    monkeypatch.setattr(acyclic, "_PATIENCE", patience)
    draw = random.Random(seed)
    count = draw.randint(2, 24)
    order = draw.sample(range(count), count)
    pairs = [(order[i], order[j]) for i in range(count) for j in range(i + 1, count)]
    edges = set(draw.sample(pairs, min(len(pairs), draw.randint(0, 2 * count))))
    graph, plain = AcyclicGraph(count, edges, order), _Plain(count, edges)
    for _ in range(60):
        a, b = draw.randrange(count), draw.randrange(count)
        question = draw.choice(["contract", "contract", "add_edge", "reaches"])
        assert getattr(graph, question)(a, b) == getattr(plain, question)(a, b), (question, a, b)
        _check(graph, plain)


def _check(graph: AcyclicGraph, plain: _Plain) -> None:
    found = list(graph.order())
    place = {node: k for k, node in enumerate(found)}
    assert len(place) == len(found) == len(set(plain.groups.values()))
    for a, b in plain.edges:
        assert place[graph.find(a)] < place[graph.find(b)]
    assert {tuple(g) for g in graph.groups()} == {
        tuple(k for k, g in plain.groups.items() if g == name)
        for name in set(plain.groups.values())
    }
    labels = [graph._order.labels[node] for node in found]
    assert labels == sorted(set(labels))


def test_edges_are_those_of_all_that_was_joined() -> None:
    graph = AcyclicGraph(5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    assert graph.can_contract(1, 2)
    assert graph.contract(1, 2)
    assert graph.find(1) == graph.find(2) != graph.find(3)
    assert not graph.can_contract(0, 3)
    assert not graph.contract(0, 4)


class _Counting(AcyclicGraph):
    """Counts the nodes whose neighbours are looked at."""

    looks = 0

    def _neighbours(self, side: int, node: int) -> list[int]:
        self.looks += 1
        return super()._neighbours(side, node)


@pytest.mark.parametrize("count", [1000, 4000])
def test_searches_past_long_skips_stay_short(count: int) -> None:
    """A chain whose nodes also read any earlier one: nearly no two of those can be joined."""
    draw = random.Random(1)
    skips = [(draw.randrange(k), k) for k in range(1, count)]
    graph = _Counting(count, {*skips, *((k, k + 1) for k in range(count - 1))})
    assert sum(graph.can_contract(a, b) for a, b in skips) < 20
    assert graph.looks < 12 * count


def test_an_edge_against_the_order_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="edge 2 -> 1 goes against the order"):
        AcyclicGraph(3, [(2, 1)])


@pytest.mark.parametrize("seed", range(3))
def test_moving_to_one_place_over_and_over_keeps_the_labels_apart(seed: int) -> None:
    """Every edge against the order moves a node to just before the same one."""
    count = 2000
    draw = random.Random(seed)
    graph = AcyclicGraph(count, [])
    for k in draw.sample(range(1, count), count - 1):
        assert graph.add_edge(k, 0)
    found = list(graph.order())
    assert found[-1] == 0 or graph._order.labels[0] > max(
        graph._order.labels[k] for k in range(1, count)
    )
    labels = [graph._order.labels[node] for node in found]
    assert labels == sorted(set(labels))


def test_a_long_chain_with_a_fan_beside_it_becomes_one_node() -> None:
    """Work for each contraction stays small: a search of the window would take minutes."""
    count = 20000
    chain = [(k, k + 1) for k in range(1, count)]
    fan = [(0, k) for k in range(1, count + 1)]
    graph = AcyclicGraph(count + 1, chain + fan)
    assert all(graph.contract(a, b) for a, b in chain)
    assert len(list(graph.order())) == 2
