"""Tables of patterns, and the gate."""

from __future__ import annotations

from collections.abc import Sequence

from partitions import backend, chain, check, only, partitioned

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Graph, Node
from drystone_subgraph import Pattern, Subgraph, pattern_properties
from drystone_subgraph import chain as ops

FLOAT = as_dtype("float32")
TABLE = [ops("long", "Neg", "Exp", "Tanh"), ops("short", "Neg", "Exp")]


def graph_of(*names: str, reads: Sequence[int] = ()) -> Graph:
    """A chain of ops; the results of those in ``reads`` are fetched by way of another node."""
    graph = Graph()
    last = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": (2,)})
    for k, op in enumerate(names):
        last = graph.add(op, f"n{k}", [last], attrs={"T": FLOAT})
        if k in reads:
            graph.add("Abs", f"read{k}", [last], attrs={"T": FLOAT})
    return graph


def taken(graph: Graph, table: Sequence[Pattern]) -> list[tuple[str, tuple[str, ...]]]:
    after, report = partitioned(graph, backend("b", *pattern_properties(table)))
    check(graph, after, report, [n.name for n in graph if not graph.has_users(n)])
    for segment in report.taken:
        assert after[segment.node].attr("_subgraph_pattern") == segment.property
    return [(segment.property, segment.nodes) for segment in report.taken]


def test_the_first_pattern_has_the_first_choice() -> None:
    """Rows D23 and J18."""
    graph = graph_of("Neg", "Exp", "Tanh", "Neg", "Exp", "Abs")
    assert taken(graph, TABLE) == [("long", ("n0", "n1", "n2")), ("short", ("n3", "n4"))]


def test_order_decides() -> None:
    graph = graph_of("Neg", "Exp", "Tanh")
    assert taken(graph, TABLE[::-1]) == [("short", ("n0", "n1"))]


def test_a_value_inside_that_others_read() -> None:
    graph = graph_of("Neg", "Exp", "Tanh", reads=[1])
    assert taken(graph, TABLE) == [("short", ("n0", "n1"))]


def test_a_value_at_the_beginning_that_others_read() -> None:
    assert taken(graph_of("Neg", "Exp", "Tanh", reads=[0]), TABLE) == []


def test_a_value_inside_that_is_fetched() -> None:
    """It comes out of the region as one that others read does; at the end of a pattern it may."""
    graph = graph_of("Neg", "Exp", "Tanh", "Neg", "Exp", "Abs")
    patterns = backend("b", *pattern_properties(TABLE))
    _, report = partitioned(graph, patterns, ["n5", "n1"])
    found = [(segment.property, segment.nodes) for segment in report.taken]
    assert found == [("short", ("n0", "n1")), ("short", ("n3", "n4"))]
    _, report = partitioned(graph, patterns, ["n5", "n0", "n3"])
    assert report.taken == []


def test_a_fetched_value_leaves_what_comes_after_it_to_a_match() -> None:
    graph = graph_of("Neg", "Neg", "Neg")
    table = pattern_properties([ops("twice", "Neg", "Neg")])
    _, report = partitioned(graph, backend("b", *table), ["n2", "n0"])
    assert [segment.nodes for segment in report.taken] == [("n1", "n2")]


def test_a_check_refuses() -> None:
    """Rows D23 and J18."""

    def first_only(nodes: Sequence[Node]) -> bool:
        return nodes[-1].name == "n0"

    graph = graph_of("Neg", "Exp", "Neg", "Exp")
    assert taken(graph, [ops("p", "Neg", "Exp", check=first_only)]) == [("p", ("n0", "n1"))]


def test_a_tree_with_a_hole() -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": (2,)})
    neg = graph.add("Neg", "neg", [x], attrs={"T": FLOAT})
    graph.add("Mul", "y", [graph.add("Exp", "e", [x], attrs={"T": FLOAT}), neg], attrs={"T": FLOAT})
    table = [Pattern("Mul|AddV2", [None, Pattern("Neg")], name="p")]
    assert taken(graph, table) == [("p", ("neg", "y"))]


def test_a_gate() -> None:
    def gate(subgraph: Subgraph) -> str:
        return "too little" if len(subgraph.nodes) < 3 else ""

    _, report = partitioned(chain(6), only("b", {"AddN"}), exclude=("n2",), gate=gate)
    assert [(s.outcome, s.nodes, s.reason) for s in report.segments] == [
        ("not worth it", ("n0", "n1"), "too little"), ("taken", ("n3", "n4", "n5"), ""),
    ]  # fmt: skip
