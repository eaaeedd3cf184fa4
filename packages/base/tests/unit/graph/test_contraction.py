"""Regions of a graph: what may be joined, with data and control edges and loops of frames."""

from __future__ import annotations

import random

from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph, Node, topological_order
from drystone_base.graph.contraction import Contraction


def _line(graph: Graph, name: str, *inputs: Node) -> Node:
    return graph.add("Identity", name, inputs, attrs={"T": FLOAT32})


def test_a_path_through_a_third_node_keeps_two_apart() -> None:
    graph = Graph()
    a = graph.add("Placeholder", "a", attrs={"dtype": FLOAT32})
    b = _line(graph, "b", a)
    c = graph.add("AddV2", "c", [a, b], attrs={"T": FLOAT32})
    regions = Contraction(graph)
    assert not regions.join(a, c)
    assert regions.join(a, b)
    assert regions.join(a, c)
    assert regions.regions() == [[a, b, c]]
    assert regions.region(b) is regions.region(c)


def test_a_control_edge_counts() -> None:
    graph = Graph()
    a = graph.add("Placeholder", "a", attrs={"dtype": FLOAT32})
    b = graph.add("NoOp", "b", controls=[a])
    c = graph.add("Const", "c", controls=[b], attrs={"dtype": FLOAT32})
    regions = Contraction(graph)
    assert regions.reaches(a, c)
    assert not regions.join(a, c)


def test_a_loop_leads_from_every_enter_to_every_exit() -> None:
    """Although between them only the edge back, which does not count by itself, leads there."""
    graph = Graph()
    attrs = {"T": FLOAT32, "frame_name": "f"}
    first = graph.add("Placeholder", "first", attrs={"dtype": FLOAT32})
    second = graph.add("Placeholder", "second", attrs={"dtype": FLOAT32})
    limit = graph.add("Enter", "limit", [second], attrs={**attrs, "is_constant": True})
    enter = graph.add("Enter", "enter", [first], attrs=attrs)
    merge = graph.add("Merge", "merge", [enter, enter], attrs={"T": FLOAT32, "N": 2})
    less = graph.add("Less", "less", [merge, merge], attrs={"T": FLOAT32})
    go = graph.add("LoopCond", "go", [less])
    switch = graph.add("Switch", "switch", [merge, go], attrs={"T": FLOAT32})
    step = graph.add("AddV2", "step", [(switch, 1), (limit, 0)], attrs={"T": FLOAT32})
    back = graph.add("NextIteration", "back", [step], attrs={"T": FLOAT32})
    graph.set_input(merge, 1, (back, 0))
    leave = graph.add("Exit", "leave", [(switch, 0)], attrs={"T": FLOAT32})
    after = _line(graph, "after", leave)
    regions = Contraction(graph)
    assert regions.reaches(second, after)
    assert not regions.join(second, after)
    assert [n for region in regions.regions() for n in region] == topological_order(graph)


def test_whatever_is_joined_the_regions_have_an_order() -> None:
    for seed in range(20):
        draw = random.Random(seed)
        graph = Graph()
        nodes = [graph.add("Placeholder", "n0", attrs={"dtype": FLOAT32})]
        for k in range(1, 40):
            sources = draw.sample(nodes, min(len(nodes), 2))
            nodes.append(graph.add("AddN", f"n{k}", sources, attrs={"T": FLOAT32, "N": 2}))
        regions = Contraction(graph)
        for _ in range(60):
            regions.join(draw.choice(nodes), draw.choice(nodes))
        place = {n: k for k, region in enumerate(regions.regions()) for n in region}
        assert all(place[s] <= place[n] for n in nodes for s, _ in n.inputs)
