"""How regions grow: breadth first, along both directions, connected, disjoint, without cycles."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from partitions import Named, Rule, backend, chain, check, graph_of, only, partitioned, regions

from drystone_abi.protos import FunctionDef
from drystone_base.graph import Node
from drystone_subgraph import SubgraphSelector
from drystone_subgraph.regions.region_function import RegionFunction


def starts(letter: str) -> Rule:
    return Rule(Named(lambda name: name.startswith(letter)))


class Tracer(SubgraphSelector):
    """Takes everything whose name starts with n, and writes down what it is asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def select(self, node: Node) -> bool:
        self.calls.append(f"select {node.name}")
        return node.name.startswith("n")

    def select_input(self, node: Node, new_node: Node) -> bool:
        self.calls.append(f"input {new_node.name} of {node.name}")
        return new_node.name.startswith("n")

    def select_output(self, node: Node, new_node: Node) -> bool:
        self.calls.append(f"output {new_node.name} of {node.name}")
        return new_node.name.startswith("n")

    def reset(self) -> None:
        self.calls.append("reset")


def test_order_of_calls() -> None:
    """Row D3. S1-search, S1-selector."""
    graph = graph_of({"x": [], "n0": ["x"], "n1": ["n0"], "n2": ["n0"], "z": ["n1", "n2"]})
    tracer = Tracer()
    partitioned(graph, backend("b", Rule(tracer)))
    assert tracer.calls == [
        "reset", "select n0", "output n1 of n0", "output n2 of n0", "output z of n1",
        "output z of n2", "reset", "select z",
    ]  # fmt: skip


def test_a_chain_is_one_region() -> None:
    """S1-contain-op, S1-replace."""
    graph = chain(6)
    after, report = partitioned(graph, only("b", {"AddN"}))
    assert regions(report) == [["n0", "n1", "n2", "n3", "n4", "n5"]]
    assert [node.op for node in after] == ["Placeholder", "PartitionedCall", "Identity"]
    check(graph, after, report, ["n5"])


def test_a_region_grows_against_the_edges_too() -> None:
    """Row D3."""
    graph = graph_of({"x": [], "y": [], "n0": ["x"], "n1": ["y"], "n2": ["n0", "n1"]})
    _, report = partitioned(graph, backend("b", starts("n")))
    assert regions(report) == [["n0", "n1", "n2"]]


def test_nodes_that_are_not_connected_are_two_regions() -> None:
    """S1-connected."""
    graph = graph_of({"x": [], "n0": ["x"], "n1": ["x"]})
    after, report = partitioned(graph, backend("b", starts("n")))
    assert regions(report) == [["n0"], ["n1"]]
    check(graph, after, report, ["n0", "n1"])


def test_a_path_through_another_node_keeps_nodes_apart() -> None:
    graph = graph_of({"x": [], "n0": ["x"], "a": ["n0"], "n1": ["n0", "a"]})
    after, report = partitioned(graph, backend("b", starts("n")))
    assert regions(report) == [["n0"], ["n1"]]
    check(graph, after, report, ["n1"])


def test_a_node_that_comes_late_lets_another_in() -> None:
    graph = graph_of({"x": [], "n0": ["x"], "n1": ["n0"], "n2": ["n1"], "n3": ["n0", "n2"]})
    _, report = partitioned(graph, backend("b", starts("n")))
    assert regions(report) == [["n0", "n1", "n2", "n3"]]


def test_two_kinds_that_would_depend_on_each_other() -> None:
    """Row D5. features 5.2: peers join a1 with a2 and b1 with b2, and get a cycle."""
    graph = graph_of({"x": [], "a1": ["x"], "b2": ["x"], "a2": ["a1", "b2"], "b1": ["b2", "a1"]})
    name = backend("b", starts("a"), starts("b"))
    after, report = partitioned(graph, name)
    assert sorted(map(len, regions(report))) == [1, 1, 2]
    check(graph, after, report, ["a2", "b1"])


def test_a_long_ladder_beside_the_path() -> None:
    """Row D5. features 5.2: peers give up looking and join s0 with s1."""
    edges: dict[str, Sequence[str]] = {"x": [], "s0": ["x"], "p0": ["s0"], "x0": ["s0"]}
    for k in range(8):
        edges |= {f"y{k}": [f"x{k}"], f"z{k}": [f"x{k}"], f"x{k + 1}": [f"y{k}", f"z{k}"]}
    graph = graph_of(edges | {"d": ["p0", "x8"], "s1": ["s0", "d"]})
    after, report = partitioned(graph, backend("b", starts("s")))
    assert regions(report) == [["s0"], ["s1"]]
    check(graph, after, report, ["s1"])


def test_control_edges_keep_nodes_apart_and_are_kept() -> None:
    """Row D5."""
    graph = graph_of(
        {"x": [], "n0": ["x"], "a": ["x", "^n0"], "n1": ["n0", "^a"], "z": ["x", "^n1"]}
    )
    after, report = partitioned(graph, backend("b", starts("n")))
    assert regions(report) == [["n0"], ["n1"]]
    check(graph, after, report, ["z"])
    assert [c.op for c in after["z"].controls] == ["PartitionedCall"]


class FirstTwo(Named):
    """Keeps the first and the last of its candidates."""

    def __init__(self) -> None:
        super().__init__(lambda name: name.startswith("n"))

    def filter(self, candidates: Sequence[Node]) -> Sequence[Node]:
        return [candidates[0], candidates[-1]]


def test_what_a_filter_leaves_is_checked_again() -> None:
    """Row D6. S1-filter."""
    graph = graph_of({"x": [], "n0": ["x"], "n1": ["n0"], "n2": ["n0", "n1"]})
    after, report = partitioned(graph, backend("b", Rule(FirstTwo())))
    assert ["n0", "n2"] not in regions(report)
    assert ["n0"] in regions(report)
    check(graph, after, report, ["n2"])


def test_a_filter_may_keep_what_holds_together() -> None:
    """Row D6."""
    graph = graph_of({"x": [], "n0": ["x"], "n1": ["n0"], "n2": ["n0"]})
    _, report = partitioned(graph, backend("b", Rule(FirstTwo())), ["n1", "n2"])
    assert regions(report)[0] == ["n0", "n2"]


class Pair(SubgraphSelector):
    """Takes two nodes for each region: what it has seen decides."""

    def __init__(self) -> None:
        self.seen = 0

    def reset(self) -> None:
        self.seen = 0

    def select(self, node: Node) -> bool:
        self.seen = 1
        return node.op == "AddN"

    def select_input(self, node: Node, new_node: Node) -> bool:
        return self.select_output(node, new_node)

    def select_output(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        self.seen += 1
        return self.seen <= 2


def test_state_of_a_selector() -> None:
    """Row D2. S1-selector."""
    _, report = partitioned(chain(6), backend("b", Rule(Pair())))
    assert regions(report) == [["n0", "n1"], ["n2", "n3"], ["n4", "n5"]]


def test_several_backends_in_their_order() -> None:
    """Row D15. S1-several."""
    graph = chain(4)
    first = backend("first", Rule(Named(lambda name: name in ("n1", "n2"))))
    only("second", {"AddN"})
    after, report = partitioned(graph, f"{first},second")
    assert [(s.backend, s.nodes) for s in report.taken] == [
        ("first", ("n1", "n2")), ("second", ("n0",)), ("second", ("n3",)),
    ]  # fmt: skip
    check(graph, after, report, ["n3"])
    _, other = partitioned(graph, f"second,{first}")
    assert [(s.backend, len(s.nodes)) for s in other.taken] == [("second", 4)]


def test_twenty_thousand_fetches_of_one_region() -> None:
    """The outputs of the region are not looked through for each: that took ten seconds."""
    names = [f"n{k}" for k in range(20_000)]
    graph = graph_of({"x": [], **{name: ["x"] for name in names}, "y": names})
    begin = time.process_time()
    after, report = partitioned(graph, only("b", ["AddN"]), [*names, "y"])
    assert time.process_time() - begin < 5
    assert len(report.taken) == 1
    assert all(after[name].op == "Identity" for name in names)


def test_regions_are_written_when_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is half of the time that partitioning a large graph takes."""
    written: list[str] = []
    build = RegionFunction.build

    def noted(region: RegionFunction) -> FunctionDef:
        written.append(region.name)
        return build(region)

    monkeypatch.setattr(RegionFunction, "build", noted)
    after, _ = partitioned(chain(5), only("b", ["AddN"]), ["n4"])
    assert written == []
    assert [function.proto.signature.name for function in after.functions] == written


def test_the_same_graph_gives_the_same_bytes() -> None:
    """Row D8."""
    only("b", {"AddN"})
    found = {partitioned(chain(9), "b", exclude=("n4",))[0].to_bytes() for _ in range(3)}
    assert len(found) == 1
