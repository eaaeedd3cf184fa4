"""Random graphs and selectors; `nox -s random_partitions` runs five hundred times as many."""

from __future__ import annotations

from partitions import graph_of
from random_partitions import cyclic, grown, parts_differ, values_differ


def test_two_thousand_partitions_have_no_cycle() -> None:
    """Rows D4 and D5."""
    wrong = [(seed, text) for seed in range(2_000) if (text := cyclic(*grown(seed)))]
    assert wrong == []


def test_regions_found_all_at_once_are_those_that_grow_node_by_node() -> None:
    """Row D7."""
    assert [text for seed in range(400) if (text := parts_differ(seed))] == []


def test_partitioned_graphs_compute_the_same() -> None:
    assert [text for seed in range(100) if (text := values_differ(seed))] == []


def test_partitioned_graphs_compute_the_same_natively() -> None:
    """Row D17."""
    assert [t for seed in range(300, 370) if (t := values_differ(seed, "native"))] == []


def test_what_is_wrong_would_be_seen() -> None:
    graph = graph_of({"x": [], "s0": ["x"], "d": ["s0"], "s1": ["s0", "d"], "z": ["x"]})
    assert cyclic(graph, [[graph["s0"], graph["s1"]]]).startswith("a cycle through")
    assert cyclic(graph, [[graph["s0"]], [graph["s0"]]]) == "s0 is in two regions"
    assert cyclic(graph, [[graph["s0"], graph["z"]]]).endswith("is not connected")
