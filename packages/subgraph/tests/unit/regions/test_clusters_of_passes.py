"""Clusters that passes found become operators of a backend, in graphs, loops and functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from interpreter import Compiling
from random_programs.draw import draw
from random_programs.passes import differences

import drystone_base as ds
from drystone_abi.protos import FunctionDef
from drystone_base.graph import Body, Graph, Node, body_to_function
from drystone_base.host import available
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_subgraph import CompileRequest, Executable, SubgraphWarning, executables

pytestmark = pytest.mark.cases_in_gate(3)

F = ds.as_dtype("float32")
T = {"T": F}
EXECUTORS = ["reference", *(["native"] if available() else [])]


def chain(graph: Graph, start: Any, names: Sequence[str]) -> Node:
    """Squares and their negatives in turn."""
    for k, name in enumerate(names):
        start = graph.add(("Square", "Neg")[k % 2], name, [start], attrs=T)
    found: Node = start
    return found


def number(graph: Graph, name: str, value: Any) -> Node:
    attrs = {"dtype": F, "value": TensorAttr(array=np.array(value, np.float32))}
    return graph.add("Const", name, attrs=attrs)


def passes(backend: str, least: int = 2) -> dict[str, Any]:
    return {
        "MarkForCompilationPass": {"min_size": least}, "EncapsulateSubgraphsPass": True,
        "BuildClusterOpsPass": {"backend": backend},
    }  # fmt: skip


def session(graph: Graph, backend: str, executor: Any = "reference", **more: Any) -> ds.Session:
    config = ds.SessionConfig(executor=executor, passes=passes(backend), optimizer="off", **more)
    return ds.Session(graph, config)


def simple() -> Graph:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": None})
    chain(graph, x, ["a", "b", "c"])
    return graph


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_cluster_is_an_operator_of_the_backend(executor: Any) -> None:
    """Row H23. S3-build."""
    backend = Compiling([])  # what it would select does not matter
    found = session(simple(), "fake", executor)
    assert found.run("c:0", {"x:0": [1, 2]}).tolist() == [1, 16]
    assert found.run("c:0", {"x:0": [3]}).tolist() == [81]
    status = [(s.backend, s.state, s.runs, s.fallbacks) for s in executables(found)]
    assert status == [("fake", "ready", 1, 0)] * 2
    assert len(backend.requests) == 2
    assert len(found.graph) == 4


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_the_backend_cannot_do_the_host_executor_does(executor: Any) -> None:
    """Row H23. S3-build."""

    def fail(request: CompileRequest) -> Executable:
        raise RuntimeError("not today")

    Compiling([], fail)
    found = session(simple(), "fake", executor)
    with pytest.warns(SubgraphWarning, match="cannot compile it: RuntimeError: not today"):
        assert found.run("c:0", {"x:0": [2]}).tolist() == [16]
    assert [s.fallbacks for s in executables(found)] == [1]


def test_a_backend_that_is_not_there() -> None:
    with pytest.raises(ds.GraphError) as caught:
        session(simple(), "nobody").run("c:0", {"x:0": [2]})
    assert isinstance(caught.value.inner, ds.BadRequest)
    assert caught.value.inner.code == "unknown-subgraph-backend"


def training() -> Graph:
    """``step`` = the squared distance of w to x; w goes a tenth of the way there."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": None})
    w = graph.add("VarHandleOp", "w", attrs={"dtype": F, "shape": (2,), "shared_name": "w"})
    zero = number(graph, "zero", [0, 0])
    graph.add("AssignVariableOp", "init", [w, zero], attrs={"dtype": F})
    old = graph.add("ReadVariableOp", "old", [w], attrs={"dtype": F})
    way = graph.add("Sub", "way", [x, old], attrs=T)
    graph.add("Square", "step", [way], attrs=T)
    tenth = graph.add("Mul", "tenth", [way, number(graph, "rate", 0.1)], attrs=T)
    graph.add("AssignAddVariableOp", "update", [w, tenth], attrs={"dtype": F})
    after = graph.add("Identity", "passed", [way], controls=[graph["update"]], attrs=T)
    new = graph.add("ReadVariableOp", "new", [w], controls=[after], attrs={"dtype": F})
    graph.add("Neg", "minus", [new], attrs=T)
    return graph


@pytest.mark.parametrize("executor", EXECUTORS)
def test_variables_are_read_before_and_written_after(executor: Any) -> None:
    """Row H23. S3-build: the operator is without state, and sees each new value."""
    backend = Compiling([])
    found = session(training(), "fake", executor)
    plain = ds.Session(training(), ds.SessionConfig(optimizer="off"))
    for one in (found, plain):
        one.run("init")
    for _ in range(4):
        names = ["step:0", "minus:0", "update"]
        got, want = (one.run(names, {"x:0": [1, 2]}) for one in (found, plain))
        np.testing.assert_array_equal(got[0], want[0])
        np.testing.assert_array_equal(got[1], want[1])
    ops = {node.op for request in backend.requests for node in request.body.graph}
    assert {"Sub", "Square", "Mul"} <= ops
    assert not {"ReadVariableOp", "AssignAddVariableOp"} & ops
    assert all(s.runs == 4 and not s.fallbacks for s in executables(found))


def looping(graph: Graph, x: Node) -> Node:
    """A loop of frames: squared, negated and squared again while below 100."""

    def add(op: str, name: str, inputs: Any, **attrs: Any) -> Node:
        return graph.add(op, name, inputs, attrs=attrs if op == "LoopCond" else T | attrs)

    enter = add("Enter", "enter", [x], frame_name="loop")
    limit = add("Enter", "limit", [number(graph, "most", 100)], frame_name="loop", is_constant=True)
    merge = add("Merge", "merge", [enter, enter], N=2)
    go = add("LoopCond", "go", [add("Less", "less", [merge, limit])])
    switch = add("Switch", "switch", [merge, go])
    body = chain(graph, (switch, 1), ["in_a", "in_b", "in_c"])
    graph.set_input(merge, 1, (add("NextIteration", "next", [body]), 0))
    return add("Exit", "exit", [(switch, 0)])


@pytest.mark.parametrize("executor", EXECUTORS)
def test_clusters_in_loops_of_frames(executor: Any) -> None:
    Compiling([])
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": ()})
    graph.add("Identity", "out", [looping(graph, x)], attrs=T)
    found = session(graph, "fake", executor)
    assert found.run("out:0", {"x:0": 2}) == 65536  # 2, 16, 65536
    assert sum(s.runs for s in executables(found)) >= 2


def calling() -> Graph:
    """A While whose body is a function with a chain that can be a cluster."""
    graph = Graph()

    def function(name: str, last: str, dtype: Any) -> None:
        inner = Graph()
        inner.functions = graph.functions
        arg = inner.add("_Arg", "v", attrs={"T": F, "index": 0})
        end = chain(inner, arg, ["f_a", "f_b", "f_c"]) if last == "chain" else inner.add(
            "Less", "less", [arg, number(inner, "most", 100)], attrs=T
        )  # fmt: skip
        result = inner.add("_Retval", "r", [end], attrs={"T": dtype, "index": 0})
        proto = signature(name, F, dtype)
        graph.functions.add(body_to_function(Body(inner, [arg], [result], []), proto))

    function("go_on", "less", ds.as_dtype("bool"))
    function("once", "chain", F)
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": ()})
    attrs = {"T": [F], "cond": FunctionRef("go_on", {}), "body": FunctionRef("once", {})}
    graph.add("StatelessWhile", "loop", [x], attrs=attrs)
    graph.add("Identity", "out", [graph["loop"]], attrs=T)
    return graph


def signature(name: str, taken: Any, given: Any) -> FunctionDef:
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="v", type=taken.number)
    proto.signature.output_arg.add(name="r", type=given.number)
    return proto


@pytest.mark.parametrize("executor", EXECUTORS)
def test_clusters_in_functions(executor: Any) -> None:
    backend = Compiling([])
    found = session(calling(), "fake", executor)
    want = ds.Session(calling(), ds.SessionConfig(optimizer="off")).run("out:0", {"x:0": 2})
    assert found.run("out:0", {"x:0": 2}) == want
    assert {n.op for r in backend.requests for n in r.body.graph} >= {"Square", "Neg"}
    assert sum(s.runs for s in executables(found)) == 2
    assert {f.name for f in found.graph.functions} == {"go_on", "once"}


@pytest.mark.filterwarnings("ignore::drystone_subgraph.SubgraphWarning")
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("seed", range(20))
def test_random_programs(seed: int, executor: Any) -> None:
    """S3-build: variables, branches, loops and functions give what they give without clusters."""
    Compiling([])
    assert not differences(draw(seed), passes("fake", 1), executor=executor)
