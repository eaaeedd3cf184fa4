"""What stands for a region: its inputs and outputs, fetches, refusals, and what creators see."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from interpreter import Compiling
from partitions import Named, Rule, backend, chain, check, graph_of, only, partitioned, regions

import drystone_base as ds
from drystone_abi.protos import FunctionDef
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import BadRequest, PluginError
from drystone_base.graph import FunctionLibrary, Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_subgraph import (
    ContainOpProperty,
    PartitionConfig,
    Subgraph,
    SubgraphBackend,
    SubgraphInput,
    SubgraphNode,
    SubgraphOutput,
    SubgraphProperty,
    SubgraphWarning,
    backends,
    find_backend,
    partition,
    register_backend,
)
from drystone_subgraph.compiled.artefacts import region_key
from drystone_subgraph.session.stage import partition_for_session


def test_an_input_that_is_read_often_goes_in_once() -> None:
    """Row D8. S1-replace."""
    graph = graph_of({"x": [], "n0": ["x", "x"], "n1": ["n0", "x"]})
    after, report = partitioned(graph, only("b", {"AddN"}))
    operator = after[report.taken[0].node]
    assert [source.name for source, _ in operator.inputs] == ["x"]
    check(graph, after, report, ["n1"])


def test_an_output_that_is_read_often_goes_out_once() -> None:
    """Row D8."""
    graph = graph_of({"x": [], "n0": ["x"], "a": ["n0", "n0"], "c": ["n0"]})
    after, report = partitioned(graph, backend("b", Rule(Named(lambda n: n == "n0"))))
    assert len(after[report.taken[0].node].attrs["Tout"]) == 1
    check(graph, after, report, ["a", "c"])


def test_fetched_nodes_keep_their_names() -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (4,)})
    axis = graph.add(
        "Const", "axis", attrs={"dtype": INT32, "value": TensorAttr(array=np.array(0, np.int32))}
    )
    attrs = {"T": FLOAT32, "num_split": 2}
    split = graph.add("Split", "split", [axis, x], attrs=attrs)
    graph.add("Neg", "neg", [(split, 1)], attrs={"T": FLOAT32})
    graph.add("NoOp", "done", controls=[graph["neg"]])
    after = partition(graph, ["split:1", "neg", "done"], ["x"], "default")
    assert {node.name: node.op for node in after} == {
        "x": "Placeholder", "default_subgraph_0": "PartitionedCall", "split": "IdentityN",
        "neg": "Identity", "done": "NoOp",
    }  # fmt: skip
    session = ds.Session(after, ds.SessionConfig(optimizer="off"))
    found = session.run(["split:1", "neg:0", "done"], {"x:0": np.arange(4, dtype=np.float32)})
    np.testing.assert_array_equal(found[0], [2, 3])
    np.testing.assert_array_equal(found[1], [-2, -3])


class Looking(ContainOpProperty):
    """Writes down what a creator sees, edits the body, or refuses."""

    def __init__(self, refuses: bool = False) -> None:
        super().__init__({"AddN"})
        self.refuses = refuses
        self.ends: tuple[tuple[SubgraphInput, ...], tuple[SubgraphOutput, ...]] = ((), ())

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        self.ends = (subgraph.inputs, subgraph.outputs)
        if self.refuses:
            return subgraph.refuse("not today")
        for node in list(subgraph.body.graph):
            if node.op == "AddN":
                subgraph.body.graph.set_op(node, "Neg")
                subgraph.body.graph.remove_attr(node, "N")
        return subgraph.node(_precision="f32")


def test_a_creator_sees_shapes_and_may_rewrite() -> None:
    """Rows D9 and D10. S1-property, S1-information, S1-customize."""
    rule = Looking()
    after, report = partitioned(chain(3), backend("b", rule))
    inputs, outputs = rule.ends
    assert [(i.source, i.op, i.dtype, i.shape) for i in inputs] == [
        ("x:0", "Placeholder", FLOAT32, (2,))
    ]
    assert [(o.source, o.dtype, o.shape) for o in outputs] == [("n2:0", FLOAT32, (2,))]
    assert after[report.taken[0].node].attr("_precision") == "f32"
    x = np.ones(2, np.float32)
    session = ds.Session(after, ds.SessionConfig(optimizer="off"))
    np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), -x)


def test_what_is_compiled_knows_the_attributes_of_its_operator() -> None:
    """They are part of what an executable that is kept was compiled from, too."""
    made: list[dict[str, Any]] = []

    class Marked(ContainOpProperty):
        def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode:
            return subgraph.node(_tile=7, _mode="fast")

    class Marking(Compiling):
        def properties(self) -> Sequence[SubgraphProperty]:
            return [Marked(self.ops)]

    backend = Marking({"AddN"})
    config = ds.SessionConfig(subgraphs=backend.name, optimizer="off")
    ds.Session(chain(2), config).run("n1:0", {"x:0": np.ones(2, np.float32)})
    made += [dict(request.attrs) for request in backend.requests]
    assert made == [{"_tile": 7, "_mode": "fast"}]
    (request,) = backend.requests
    library, function = FunctionLibrary(), FunctionDef()
    keys = {region_key(function, library, replace(request, attrs=a), {}) for a in (made[0], {})}
    assert len(keys) == 2


def test_a_refusal_leaves_the_nodes_to_the_next() -> None:
    """Row D10."""
    name = backend("b", Looking(refuses=True))
    only("c", {"AddN"})
    graph = chain(3)
    after, report = partitioned(graph, f"{name},c")
    assert [(s.backend, s.outcome, s.reason) for s in report.segments] == [
        ("b", "refused", "not today"), ("c", "taken", ""),
    ]  # fmt: skip
    check(graph, after, report, ["n2"])
    unchanged, _ = partitioned(graph, name)
    assert unchanged is graph


class _Second(ContainOpProperty):
    """Partitions the region once more, for another backend."""

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        subgraph.partition("inner")
        return subgraph.node()


def test_a_region_may_be_partitioned_again() -> None:
    """Row D10. S1-customize."""
    backend("inner", Rule(Named(lambda name: name in ("n1", "n2"))))
    backend("outer", _Second({"AddN"}))
    graph = chain(4)
    after, report = partitioned(graph, "outer")
    check(graph, after, report, ["n3"])
    function = after.functions[after[report.taken[0].node].attrs["f"].name]
    assert sorted(function.ops()) == ["AddN", "AddN", "PartitionedCall"]


class _Narrow(ContainOpProperty):
    """Narrows each region to what a function of the names gives, until that is nothing new."""

    def __init__(self, left: Callable[[Sequence[str]], Sequence[str]], least: int = 1) -> None:
        super().__init__({"AddN"}, minimum_size=least)
        self.left = left

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        left = self.left(subgraph.nodes)
        return subgraph.node() if left == subgraph.nodes else subgraph.narrow(left)


def test_a_region_may_be_narrowed() -> None:
    """Row D10. S1-customize."""
    name = backend("b", _Narrow(lambda names: names[-3:]), _Narrow(lambda names: names[-4:]))
    graph = chain(5)
    after, report = partitioned(graph, name)
    check(graph, after, report, ["n4"])
    assert [(s.outcome, s.nodes) for s in report.segments] == [
        ("refused", ("n0", "n1")), ("taken", ("n2", "n3", "n4")), ("taken", ("n0", "n1")),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "outcome", "reason"),
    [
        (("n1", "stranger"), "refused", "to all of its nodes, or to others"),
        ((), "refused", "to nothing"),
        (("n0", "n2"), "refused", "to nodes that do not hold together"),
        (("n2", "n1", "n0"), "refused", "to all of its nodes, or to others"),
        (("n2",), "too small", "1 nodes, fewer than 2"),
    ],
)
def test_what_a_region_cannot_be_narrowed_to(
    left: tuple[str, ...], outcome: str, reason: str
) -> None:
    graph = chain(3)
    after, report = partitioned(graph, backend("b", _Narrow(lambda _: left, 2)))
    assert after is graph
    assert report.segments[-1].outcome == outcome
    assert report.segments[-1].reason.endswith(reason)


def test_small_regions_and_excluded_nodes_stay() -> None:
    """Row D26."""
    graph = chain(5)
    _, report = partitioned(graph, only("b", {"AddN"}), exclude=("n1",), minimum_size=3)
    assert [(s.outcome, s.nodes, s.reason) for s in report.segments] == [
        ("too small", ("n0",), "1 nodes, fewer than 3"), ("taken", ("n2", "n3", "n4"), ""),
    ]  # fmt: skip
    assert regions(report) == [["n2", "n3", "n4"]]


def test_why_not() -> None:
    """Rows D27 and J17."""
    _, report = partitioned(chain(2), only("b", {"Mul"}), why=True, exclude=("n1",))
    assert report.why == {
        ("", "x"): {"b": "it is where values come in or go out"},
        ("", "n0"): {"b": "AddN is not in the backend's list of ops"},
        ("", "n1"): {"b": "it is excluded by 'n1'"},
    }


class _Broken(ContainOpProperty):
    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        raise RuntimeError(f"no memory for {subgraph.name}")


def test_a_backend_that_raises() -> None:
    graph = chain(2)
    backend("b", _Broken({"AddN"}))
    with pytest.raises(PluginError, match="no memory for b_subgraph_0") as caught:
        partitioned(graph, "b")
    assert caught.value.code == "subgraph-backend-failed"
    session = ds.Session(graph, ds.SessionConfig(subgraphs="b", optimizer="off"))
    with pytest.warns(
        SubgraphWarning, match="runs without subgraph backend 'b': subgraph backend 'b' failed"
    ):
        found = session.run("n1", {"x": np.ones(2, np.float32)})
    np.testing.assert_array_equal(found, [1, 1])


def test_a_backend_that_raises_leaves_the_graph_to_the_others() -> None:
    backend("b", _Broken({"AddN"}))
    with pytest.warns(SubgraphWarning) as told:
        parts = partition_for_session(chain(2), ["n1:0"], ["x:0"], "b,default")
    assert len(told) == 1
    assert "without subgraph backend 'b'" in str(told[0].message)
    assert [node.name for node in parts if "subgraph" in node.name] == ["default_subgraph_0"]


def test_names_of_backends() -> None:
    """Row D11. S1-register."""
    with pytest.raises(BadRequest, match="did you mean default") as caught:
        find_backend("defualt")
    assert caught.value.code == "unknown-subgraph-backend"
    only("b", {"Mul"})
    with pytest.raises(PluginError, match="subgraph backend 'b' cannot be registered"):
        only("b", {"Mul"})
    with pytest.raises(BadRequest, match="subgraphs is not understood"):
        PartitionConfig.of(object())


def test_what_nobody_could_ask_for_is_not_registered() -> None:
    class Fine(SubgraphBackend):
        name = "fine-1.x y"

        def properties(self) -> Sequence[SubgraphProperty]:
            return []

    with pytest.raises(PluginError, match="found: the class Fine") as caught:
        register_backend(Fine)  # type: ignore[arg-type]
    assert caught.value.code == "bad-subgraph-backend"
    register_backend(Fine())
    for name in ("", "a,b", "none", "Off", " a", "a\n", "policy:mine", None):
        taken = Fine()
        taken.name = name  # type: ignore[assignment]
        with pytest.raises(PluginError, match="found: the name") as caught:
            register_backend(taken)
        assert repr(name) in str(caught.value)


def test_the_variable_and_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row D14. S1-apply."""
    graph, x = chain(3), np.ones(2, np.float32)

    def kinds(config: ds.SessionConfig) -> set[str]:
        described = ds.Session(graph, config).describe(["n2:0"], ["x:0"])
        return {block["name"] for block in described["blocks"]}

    off = ds.SessionConfig(optimizer="off", executor="native")
    assert kinds(off) == {""}
    monkeypatch.setenv("DRYSTONE_SUBGRAPH_BACKEND", "default")
    assert kinds(off) == {"", "__default_subgraph_0"}
    np.testing.assert_array_equal(ds.Session(graph, off).run("n2", {"x": x}), x)
    monkeypatch.setenv("DRYSTONE_SUBGRAPH_BACKEND", "NONE")
    assert kinds(off) == {""}
    chosen = ds.SessionConfig(optimizer="off", executor="native", subgraphs="default")
    assert kinds(chosen) == {"", "__default_subgraph_0"}
    assert kinds(ds.SessionConfig(optimizer="off", executor="native", subgraphs="off")) == {""}


def test_a_package_may_ask_for_other_backends_while_it_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from drystone_subgraph.contract import backend as registry

    class Point:
        name, package, value = "wrapping", "a-package", "a_package:Wrapping"

        def load(self) -> Any:
            found.append(find_backend("default").name)
            return type("Wrapping", (SubgraphBackend,), {"name": "wrapping", "properties": list})

    found: list[str] = []
    monkeypatch.setattr(registry, "points", lambda _: [Point()])
    monkeypatch.setattr(registry, "_scanned", False)
    monkeypatch.setattr(registry, "_LOCK", type(registry._LOCK)())  # another test does not wait
    for name in ("cpu", "openvino"):
        registry._BACKENDS._items.pop(name)
    looking = threading.Thread(target=lambda: found.extend(backends()), daemon=True)
    looking.start()
    looking.join(60)
    assert found[0] == "default"
    assert "wrapping" in found[1:]


def test_a_program_that_takes_a_name_first_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from drystone_subgraph.contract import backend as registry

    monkeypatch.setattr(registry, "points", lambda _: [])
    monkeypatch.setattr(registry, "_scanned", False)
    for name in ("cpu", "openvino"):
        registry._BACKENDS._items.pop(name)
    own = type("Own", (SubgraphBackend,), {"name": "cpu", "properties": list})()
    register_backend(own)
    with pytest.warns(UserWarning, match="it is registered by the program"):
        assert backends()["cpu"] is own
    assert "openvino" in backends()
