"""The passes that find clusters and cut them out: what they take, and what they leave alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from random_programs.draw import draw
from random_programs.passes import differences

from drystone_base import Graph, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.graph import Node, topological_order
from drystone_base.ops.attrs import TensorAttr
from drystone_base.passes import Grouping, PassOptions, run_grouping

FLOAT, INT = dtypes.FLOAT32, dtypes.INT32
T = {"T": FLOAT}
CLONE, MARK = "CloneConstantsForBetterClusteringPass", "MarkForCompilationPass"
DYNAMIC, DECLUSTER = "IncreaseDynamismForAutoJitPass", "PartiallyDeclusterPass"
ENCAPSULATE, COMPUTATIONS = "EncapsulateSubgraphsPass", "EncapsulateComputationsPass"
FAMILY: dict[str, Any] = {
    CLONE: True, MARK: {"min_size": 1}, DYNAMIC: True, DECLUSTER: True, ENCAPSULATE: True,
}  # fmt: skip


def ran(
    graph: Graph, passes: dict[str, Any], fetches: Sequence[str] = (), feeds: Sequence[str] = (),
    grouping: Grouping = Grouping.POST_REWRITE_FOR_EXEC,
) -> Graph:  # fmt: skip
    graph = graph.copy()
    options = PassOptions(graph=graph, fetches=fetches, feeds=feeds)
    run_grouping(grouping, options, passes)
    return graph


def marks(graph: Graph) -> dict[str, str]:
    return {n.name: n.attrs["_cluster"] for n in graph if n.states("_cluster")}


def constant(graph: Graph, name: str, value: Any, controls: Sequence[Node] = ()) -> Node:
    array = np.asarray(value)
    attrs = {"dtype": dtypes.from_numpy(array.dtype), "value": TensorAttr(array=array)}
    return graph.add("Const", name, controls=controls, attrs=attrs)


def chain(length: int = 4) -> Graph:
    """x -> n0 -> n1 -> ..., each with a constant that all of them read."""
    graph = Graph()
    last = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})
    one = constant(graph, "one", np.float32(1))
    for k in range(length):
        last = graph.add("AddV2", f"n{k}", [last, one], attrs=T)
    return graph


def test_each_consumer_gets_a_constant_of_its_own() -> None:
    """Row H18. S3-clone-constants."""
    graph = ran(chain(3), {CLONE: True}, ["n2:0"])
    assert [graph[f"n{k}"].inputs[1][0].name for k in range(3)] == [
        "one", "one/clone_1", "one/clone_2",
    ]  # fmt: skip
    assert ran(graph, {CLONE: True}, ["n2:0"]).to_bytes() == graph.to_bytes()


@pytest.mark.parametrize("case", ["large", "fetched", "one consumer"])
def test_constants_that_are_not_cloned(case: str) -> None:
    graph = chain(1 if case == "one consumer" else 3)
    if case == "large":
        graph.set_attr(graph["one"], "value", TensorAttr(array=np.ones(17, np.float32)))
    fetches = ["n0:0", "one:0"] if case == "fetched" else []
    assert ran(graph, {CLONE: True}, fetches).to_bytes() == graph.to_bytes()


def test_a_chain_is_one_cluster() -> None:
    """Row H19. S3-mark."""
    graph = ran(chain(), {MARK: True}, ["n3:0"], ["x:0"])
    assert set(marks(graph).values()) == {"cluster_0"}
    assert sorted(marks(graph)) == ["n0", "n1", "n2", "n3", "one"]
    assert ran(graph, {MARK: True}, ["n3:0"], ["x:0"]).to_bytes() == graph.to_bytes()


@pytest.mark.parametrize("settings", [
    {"min_size": 5}, {"ops": ["Neg"]}, {"exclude": ["AddV2"]}, {"fuel": 0}, {"max_size": 2},
])  # fmt: skip
def test_settings_that_leave_nothing(settings: dict[str, Any]) -> None:
    graph = chain()
    assert ran(graph, {MARK: settings}, ["n3:0"], ["x:0"]).to_bytes() == graph.to_bytes()


def test_sizes_have_a_limit_and_fuel_ends_it() -> None:
    """Row H19. S3-mark."""
    graph = chain(9)
    limited = ran(graph, {MARK: {"min_size": 2, "max_size": 3}}, ["n8:0"], ["x:0"])
    found = list(marks(limited).values())
    assert len(set(found)) > 2
    assert max(map(found.count, found)) == 3
    fuel = ran(graph, {MARK: {"min_size": 2, "max_size": 3, "fuel": 1}}, ["n8:0"], ["x:0"])
    assert set(marks(fuel).values()) == {"cluster_0"}


def test_nodes_say_whether_and_with_whom() -> None:
    """Row H19. S3-mark."""
    graph = chain(4)
    graph.set_attr(graph["n2"], "_XlaCompile", False)
    assert sorted(marks(ran(graph, {MARK: {"min_size": 2}}, ["n3:0"]))) == ["n0", "n1", "one"]
    graph.set_attr(graph["n3"], "_XlaMustCompile", True)
    assert "n3" in marks(ran(graph, {MARK: {"min_size": 2}}, ["n3:0"]))
    scoped = chain(4)
    for k in range(4):
        scoped.set_attr(scoped[f"n{k}"], "_XlaScope", f"s{k // 2}")
    found = marks(ran(scoped, {MARK: {"min_size": 2}}, ["n3:0"]))
    assert found["n0"] == found["n1"] != found["n2"] == found["n3"]


def test_devices_are_not_mixed() -> None:
    graph = chain(4)
    for k in range(4):
        graph.set_device(graph[f"n{k}"], f"/cpu:{k // 2}")
    found = marks(ran(graph, {MARK: {"min_size": 2}}, ["n3:0"]))
    assert found["n0"] == found["n1"] != found["n2"] == found["n3"]


def test_a_path_around_keeps_the_ends_apart() -> None:
    """Row H19. S3-mark: n0 -> out -> n1 goes through a node that cannot be compiled."""
    graph = chain(2)
    printed = graph.add("Print", "out", [graph["n0"], graph["n0"]], attrs=T | {"U": [FLOAT]})
    graph.set_input(graph["n1"], 1, (printed, 0))
    found = marks(ran(graph, {MARK: {"min_size": 1}}, ["n1:0"]))
    assert found["n0"] != found["n1"]


def test_what_may_be_dead_is_apart_from_what_is_not() -> None:
    """Row H19. S3-mark."""
    graph = chain(1)
    p = graph.add("Placeholder", "p", attrs={"dtype": dtypes.BOOL, "shape": ()})
    switch = graph.add("Switch", "switch", [graph["n0"], p], attrs=T)
    yes = graph.add("Neg", "yes", [(switch, 1)], attrs=T)
    more = graph.add("AddV2", "more", [yes, (switch, 1)], attrs=T)
    no = graph.add("Neg", "no", [(switch, 0)], attrs=T)
    graph.add("Merge", "merge", [no, more], attrs=T | {"N": 2})
    found = marks(ran(graph, {MARK: {"min_size": 1}}, ["merge:0"]))
    assert found["yes"] == found["more"]
    assert len({found["n0"], found["yes"], found["no"]}) == 3


@pytest.mark.parametrize(("order", "together"), [("read", True), ("write", False)])
def test_nothing_is_read_after_it_was_written(order: str, together: bool) -> None:
    """Row H19. S3-mark."""
    graph = chain(1)
    v = graph.add("VarHandleOp", "v", attrs={"dtype": FLOAT, "shape": (), "shared_name": "v"})
    read = graph.add("ReadVariableOp", "read", [v], attrs={"dtype": FLOAT})
    write = graph.add("AssignVariableOp", "write", [v, graph["n0"]], attrs={"dtype": FLOAT})
    if order == "read":
        graph.set_controls(write, [read])
    else:
        graph.set_controls(read, [write])
    found = marks(ran(graph, {MARK: {"min_size": 1}}))
    assert (found["read"] == found["write"]) is together


def test_only_what_is_needed_is_marked() -> None:
    graph = chain(3)
    assert "n2" not in marks(ran(graph, {MARK: {"min_size": 1}}, ["n1:0"]))


@pytest.mark.parametrize("seed", range(15))
def test_clusters_of_random_graphs_have_an_order(seed: int) -> None:
    """Row H19. S3-mark: with every cluster as one node, the graph has no cycle."""
    chance = random.Random(seed)
    graph = Graph()
    nodes = [graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})]
    for k in range(60):
        inputs = [chance.choice(nodes[-12:]) for _ in range(2)]
        out = chance.random() < 0.25
        op, attrs = ("Print", T | {"U": [FLOAT]}) if out else ("AddV2", T)
        nodes.append(graph.add(op, f"n{k}", inputs, attrs=attrs))
    found = marks(ran(graph, {MARK: {"min_size": 1, "max_size": 20}}))
    quotient = Graph()
    for name in dict.fromkeys(found.get(n.name, n.name) for n in graph):
        quotient.add("NoOp", name)
    for node in graph:
        own = found.get(node.name, node.name)
        before = {found.get(s.name, s.name) for s, _ in node.inputs} - {own}
        for name in before:
            quotient.add_control(quotient[own], quotient[name])
    assert len(topological_order(quotient)) == len(quotient)
    assert len(set(found.values())) < len(found) / 2


def slicing(size: Any = None) -> Graph:
    """``cut`` = Slice(x, begin, size), all three fed or one given."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})
    begin, wanted = (
        graph.add("Placeholder", n, attrs={"dtype": INT, "shape": None}) for n in ("begin", "size")
    )
    given = wanted if size is None else constant(graph, "given", np.int32(size))
    attrs = {"T": FLOAT, "Index": INT, "_cluster": "c"}
    graph.add("Slice", "cut", [x, begin, given], attrs=attrs)
    return graph


def test_a_size_to_the_end_becomes_a_number() -> None:
    """Row H20. S3-dynamism."""
    graph = ran(slicing(), {DYNAMIC: True}, ["cut:0"])
    chosen = graph["cut"].inputs[2][0]
    assert (chosen.op, chosen.attr("_cluster")) == ("SelectV2", "c")
    assert ran(graph, {DYNAMIC: True}, ["cut:0"]).to_bytes() == graph.to_bytes()
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for size in ([-1, -1], [1, -1], [2, 2], [0, 1]):
        feeds = {"x:0": x, "begin:0": [1, 2], "size:0": size}
        want = Session(slicing()).run("cut:0", feeds)
        found = Session(graph).run(["cut:0", f"{chosen.name}:0"], feeds)
        assert found[0].tolist() == want.tolist()
        assert found[1].min() >= 0


@pytest.mark.parametrize("case", ["constant", "outside", "fed"])
def test_sizes_that_are_left_alone(case: str) -> None:
    graph = slicing([1, 1] if case == "constant" else None)
    if case == "outside":
        graph.remove_attr(graph["cut"], "_cluster")
    feeds = ["cut:0"] if case == "fed" else []
    assert ran(graph, {DYNAMIC: True}, ["cut:0"], feeds).to_bytes() == graph.to_bytes()


def declustering() -> Graph:
    """x -> shape and neg, in a cluster with a constant that is read outside, too."""
    graph = chain(1)
    x, one = graph["x"], graph["one"]
    graph.add("Shape", "first", [x], attrs={"T": FLOAT, "out_type": INT})
    graph.add("Shape", "last", [graph["n0"]], attrs={"T": FLOAT, "out_type": INT})
    graph.add("Shape", "middle", [graph["n0"]], attrs={"T": FLOAT, "out_type": INT})
    graph.add("Reshape", "again", [graph["n0"], graph["middle"]],
              attrs={"T": FLOAT, "Tshape": INT})  # fmt: skip
    for name in ("one", "n0", "first", "last", "middle", "again"):
        graph.set_attr(graph[name], "_cluster", "c")
    graph.add("Neg", "outside", [one], attrs=T)
    return graph


def test_what_gains_nothing_leaves_its_cluster() -> None:
    """Row H21. S3-decluster."""
    graph = ran(declustering(), {DECLUSTER: True}, ["again:0", "outside:0", "first:0", "last:0"])
    assert sorted(marks(graph)) == ["again", "middle", "n0", "one"]
    assert graph["outside"].inputs == ((graph["one/declustered"], 0),)
    fetches = ["again:0", "outside:0", "first:0", "last:0"]
    assert ran(graph, {DECLUSTER: True}, fetches).to_bytes() == graph.to_bytes()


def test_a_cluster_becomes_a_call() -> None:
    """Row H22. S3-encapsulate."""
    graph = chain(4)
    for k in range(1, 3):
        graph.set_attr(graph[f"n{k}"], "_cluster", "c")
    made = ran(graph, {ENCAPSULATE: True}, ["n3:0"], ["x:0"])
    call = made["c"]
    assert (call.op, call.attr("_cluster_call")) == ("PartitionedCall", "c")
    assert [o[0].name for o in call.inputs] == ["n0", "one"]
    assert made["n3"].inputs[0] == (call, 0)
    body = made.functions[call.attr("f").name]
    assert sorted(body.ops()) == ["AddV2", "AddV2"]
    assert "_cluster" not in body.proto.node_def[0].attr
    assert Session(made).run("n3:0", {"x:0": [1, 2]}).tolist() == [5, 6]
    assert ran(made, {ENCAPSULATE: True}, ["n3:0"], ["x:0"]).to_bytes() == made.to_bytes()


def test_fetched_nodes_keep_their_names() -> None:
    """Row H22. S3-encapsulate."""
    graph = ran(chain(4), {MARK: True, ENCAPSULATE: True}, ["n3:0", "n1:0"], ["x:0"])
    assert (graph["n3"].op, graph["n1"].op) == ("Identity", "Identity")
    found = Session(graph).run(["n3:0", "n1:0"], {"x:0": [1]})
    assert [v.tolist() for v in found] == [[5], [3]]


@pytest.mark.parametrize("case", ["around", "fed", "unmarked"])
def test_clusters_that_stay(case: str) -> None:
    graph = chain(4)
    for k in (0, 2) if case == "around" else (1, 2):
        if case != "unmarked":
            graph.set_attr(graph[f"n{k}"], "_cluster", "c")
    feeds = ["n1:0"] if case == "fed" else ["x:0"]
    assert ran(graph, {ENCAPSULATE: True}, ["n3:0"], feeds).to_bytes() == graph.to_bytes()


def test_a_computation_becomes_a_call() -> None:
    """Row H16. S3-computations."""
    graph = chain(4)
    for k in (1, 2):
        graph.set_attr(graph[f"n{k}"], "_xla_compile_id", "step")
    pre = Grouping.PRE_PLACEMENT
    made = ran(graph, {COMPUTATIONS: True}, ["n3:0"], ["x:0"], pre)
    assert made["step"].op == "PartitionedCall"
    assert Session(made).run("n3:0", {"x:0": [1]}).tolist() == [5]
    assert ran(made, {COMPUTATIONS: True}, ["n3:0"], ["x:0"], pre).to_bytes() == made.to_bytes()
    plain = chain(4)
    assert ran(plain, {COMPUTATIONS: True}, ["n3:0"], [], pre).to_bytes() == plain.to_bytes()


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    """Rows H18, H19, H20, H21, H22. S3-clone-constants, S3-mark, S3-dynamism, S3-decluster.

    S3-encapsulate.
    """
    assert not differences(draw(seed), FAMILY)


def test_the_same_graph_gives_the_same_bytes() -> None:
    program = draw(7)
    fetches, feeds = program.runs[-2]
    made = [ran(program.graph, FAMILY, fetches, list(feeds)).to_bytes() for _ in range(2)]
    assert made[0] == made[1]


def test_sessions_run_the_family() -> None:
    """Row H19. S3-mark."""
    session = Session(chain(6), SessionConfig(passes=FAMILY, optimizer="off"))
    assert session.run("n5:0", {"x:0": [1.0]}).tolist() == [7]
