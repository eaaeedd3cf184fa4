"""Backends, and gates, that fail while a graph is partitioned: the others go on, and runs do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import pytest
from interpreter import Compiling
from partitions import Rule, backend, chain, only, partitioned

import drystone_base as ds
from drystone_base.core.dtypes import INT32, DType
from drystone_base.core.errors import BadRequest, PluginError
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import FunctionRef
from drystone_subgraph import (
    ContainOpProperty,
    PartitionConfig,
    Subgraph,
    SubgraphBackend,
    SubgraphNode,
    SubgraphProperty,
    SubgraphSelector,
    SubgraphWarning,
    register_backend,
)
from drystone_subgraph.session.stage import partition_for_session

Create = Callable[[Subgraph], Any]


class Creating(ContainOpProperty):
    """Takes sums, and makes of them what a function says."""

    def __init__(self, create: Create) -> None:
        super().__init__({"AddN"})
        self.create = create

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        """What the function says."""
        made: SubgraphNode | None = self.create(subgraph)
        return made


def _raises(error: BaseException) -> Callable[..., NoReturn]:
    def function(*_: object) -> NoReturn:
        raise error

    return function


def _unknown_op_inside(subgraph: Subgraph) -> SubgraphNode:
    graph = subgraph.body.graph
    graph.set_op(next(n for n in graph if n.op == "AddN"), "Bogus")
    return subgraph.node()


def _other_dtype_inside(subgraph: Subgraph) -> SubgraphNode:
    body = subgraph.body
    cast = {"SrcT": ds.as_dtype("float32"), "DstT": INT32}
    made = body.graph.add("Cast", "cast", [body.results[0].inputs[0]], attrs=cast)
    body.graph.set_inputs(body.results[0], [(made, 0)])
    body.graph.set_attr(body.results[0], "T", INT32)
    return subgraph.node()


def _call_of_nothing(subgraph: Subgraph) -> SubgraphNode:
    made = subgraph.node()
    return SubgraphNode(made.op, {**made.attrs, "f": FunctionRef("nowhere", {})})


def _one_output_more(subgraph: Subgraph) -> SubgraphNode:
    made = subgraph.node()
    return SubgraphNode(made.op, {**made.attrs, "Tout": [*made.attrs["Tout"], INT32]})


CREATORS: dict[str, tuple[Create, str]] = {
    "no operator": (lambda _: True, "found: True\n  needed: a SubgraphNode"),
    "attributes that are none": (lambda _: SubgraphNode("AddN", 3), "needed: a SubgraphNode"),  # type: ignore[arg-type]
    "unknown op": (lambda _: SubgraphNode("NoSuchOp"), "of op 'NoSuchOp'\n  needed: an op that is"),
    "bad attributes": (lambda _: SubgraphNode("PartitionedCall", {"Tin": 3}), "'Tin' must be of"),
    "other inputs": (lambda _: SubgraphNode("Identity", {"T": INT32}), "needed: int32"),
    "other outputs": (_one_output_more, "found: it gives (float32, int32)"),
    "unknown function": (_call_of_nothing, "found: no function 'nowhere'"),
    "unknown op inside": (_unknown_op_inside, "of op 'Bogus'"),
    "other dtype inside": (_other_dtype_inside, "the body keeps its outputs"),
    "a missing node": (lambda s: s.body.graph["nowhere"], "found: GraphError: there is no node"),
    "no backend inside": (lambda s: s.partition("typo"), "found: BadRequest: there is no subgraph"),
    "an exit": (_raises(SystemExit(3)), "found: SystemExit: 3"),
}


def the_others_go_on(config: PartitionConfig | str, text: str) -> None:
    """One warning tells ``text`` about b, and ``default`` takes the graph."""
    with pytest.warns(SubgraphWarning) as told:
        parts = partition_for_session(chain(2), ["n1:0"], ["x:0"], config)
    assert len(told) == 1
    assert "the graph runs without subgraph backend 'b': " in str(told[0].message)
    assert text in str(told[0].message)
    assert [node.name for node in parts if "subgraph" in node.name] == ["default_subgraph_0"]


@pytest.mark.parametrize("case", CREATORS)
def test_a_creator_that_fails_costs_its_own_backend_only(case: str) -> None:
    create, text = CREATORS[case]
    backend("b", Creating(create))
    the_others_go_on("b,default", text)
    settings = ds.SessionConfig(subgraphs="b,default", optimizer="off")
    with pytest.warns(SubgraphWarning):
        found = ds.Session(chain(2), settings).run("n1:0", {"x:0": np.ones(2, np.float32)})
    np.testing.assert_array_equal(found, [1, 1])


def test_operators_that_fit_are_taken() -> None:
    """Another op with other attributes, and an edited body."""

    def named(subgraph: Subgraph) -> SubgraphNode:
        graph = subgraph.body.graph
        graph.set_attr(next(n for n in graph if n.op == "AddN"), "_tag", 1)
        return subgraph.node(_tag=2)

    backend("b", Creating(named))
    after, report = partitioned(chain(2), "b")
    assert [after[s.node].attr("_tag") for s in report.taken] == [2]
    backend("c", Creating(lambda _: SubgraphNode("Identity", {"T": ds.as_dtype("float32")})))
    found = partitioned(chain(2), "c")[0]
    assert [node.op for node in found] == ["Placeholder", "Identity", "Identity"], "one is fetched"


class _Selecting(SubgraphSelector):
    def __init__(self, function: Callable[[Node], bool]) -> None:
        self.function = function

    def select(self, node: Node) -> bool:
        return self.function(node)

    def select_input(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        return False

    def select_output(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        return False


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda node: bool(node.graph["nowhere"]), "found: GraphError: there is no node 'nowhere'"),
        (_raises(BadRequest("no licence", code="x")), "found: BadRequest: no licence [x]"),
        (_raises(PluginError("no driver", plugin="elsewhere")), "found: PluginError: no driver"),
    ],
)
def test_a_selector_that_fails_costs_its_own_backend_only(
    function: Callable[[Node], bool], text: str
) -> None:
    backend("b", Rule(_Selecting(function)))
    the_others_go_on("b,default", text)


def test_a_gate_that_fails_is_named() -> None:
    def gate(subgraph: Subgraph) -> str:
        return "" if subgraph.backend == "default" else str(1 // 0)

    only("b", {"AddN"})
    config = PartitionConfig(("b", "default"), gate=gate)
    the_others_go_on(config, "the gate failed on region 'b_subgraph_0' of subgraph backend 'b'")
    the_others_go_on(config, "remedy: mend the function that was given as gate")
    with pytest.raises(PluginError, match="found: TypeError: it gave True") as caught:
        partitioned(chain(2), "b", gate=lambda _: True)
    assert caught.value.code == "subgraph-gate-failed"


def test_what_a_selector_adds_to_the_graph_costs_its_own_backend_only() -> None:
    def adds(node: Node) -> bool:
        if node.name == "n0":
            held.append(node.graph)
        return node.op == "AddN"

    def create(subgraph: Subgraph) -> SubgraphNode:
        held[-1].add("NoOp", subgraph.name)
        return subgraph.node()

    held: list[Graph] = []
    rule = Rule(_Selecting(adds))
    rule.create_subgraph_node = create  # type: ignore[method-assign]
    backend("b", rule)
    the_others_go_on("b,default", "found: GraphError: two nodes are named 'b_subgraph_0'")


def test_a_backend_that_cannot_be_used_here_is_told_to_who_asked() -> None:
    class Lacking(SubgraphBackend):
        name = "b"

        def properties(self) -> Sequence[SubgraphProperty]:
            raise BadRequest("'b' cannot be used", code="subgraph-package-missing")

    register_backend(Lacking())
    with pytest.raises(BadRequest, match="'b' cannot be used"):
        partition_for_session(chain(2), ["n1:0"], ["x:0"], "b,default")


class _WithoutOperators(Compiling):
    given: Any = None

    def operator(
        self,
        inputs: Sequence[DType],  # noqa: ARG002
        weights: Sequence[int],  # noqa: ARG002
        outputs: Sequence[DType],  # noqa: ARG002
    ) -> Any:
        if self.given is None:
            raise RuntimeError("no device")
        return self.given


@pytest.mark.parametrize(
    ("given", "text"), [(None, "found: RuntimeError: no device"), (3, "TypeError: it gave 3")]
)
def test_a_backend_without_operators_leaves_its_regions_to_the_host(given: Any, text: str) -> None:
    _WithoutOperators({"AddN"}, name="b").given = given
    settings = ds.SessionConfig(optimizer="off",
                                subgraphs=PartitionConfig(("b",), exclude=("n1",)))  # fmt: skip
    with pytest.warns(SubgraphWarning) as told:
        found = ds.Session(chain(3), settings).run("n2:0", {"x:0": np.ones(2, np.float32)})
    np.testing.assert_array_equal(found, [1, 1])
    assert len(told) == 1, "of two regions"
    assert "subgraph backend 'b' gave no operator for 'b_subgraph_0'" in str(told[0].message)
    assert text in str(told[0].message)


def test_a_policy_passes_over_what_is_broken() -> None:
    class Broken(Compiling):
        def properties(self) -> Sequence[SubgraphProperty]:
            raise RuntimeError("no driver")

    Compiling({"AddN"}, name="sound")
    Broken({"AddN"}, name="broken")
    chosen = PartitionConfig.of("policy:max-performance").backends
    assert "sound" in chosen
    assert "broken" not in chosen
