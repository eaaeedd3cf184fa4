"""BuildClusterOpsPass: clusters are compiled beside the runs, and the results are right anyhow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_programs.draw import draw
from random_programs.passes import differences

from drystone_base import BadRequest, Graph, GraphError, KernelError, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.graph import Body
from drystone_base.host import available
from drystone_base.state.compilers import CompilerWarning, Given, find_compiler, register_compiler

BUILD = "BuildClusterOpsPass"
FLOAT = dtypes.FLOAT32
EXECUTORS = ["reference", *(["native"] if available() else [])]


def interpreted(body: Body, given: Sequence[Given]) -> Callable[[Sequence[Any]], list[Any]]:
    """Runs the body by a session of its own."""
    assert len(given) == len(body.args)
    graph = body.graph.copy()
    for node in body.args:
        arg = graph[node.name]
        graph.set_op(arg, "Placeholder")
        graph.set_attr(arg, "dtype", node.attrs["T"])
    session = Session(graph, SessionConfig(optimizer="off"))
    names = [f"{r.inputs[0][0].name}:{r.inputs[0][1]}" for r in body.results]
    feeds = [f"{node.name}:0" for node in body.args]
    return lambda args: session.run(names, dict(zip(feeds, args, strict=True)))


def graph_of(length: int = 5) -> Graph:
    graph = Graph()
    last = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})
    for k in range(length):
        last = graph.add("Neg" if k % 2 else "Square", f"n{k}", [last], attrs={"T": FLOAT})
    return graph


def session(compiler: str, executor: Any = "reference", **more: Any) -> Session:
    passes: dict[str, Any] = {
        "MarkForCompilationPass": True,
        "EncapsulateSubgraphsPass": True,
        BUILD: {"compiler": compiler, **more},
    }
    return Session(graph_of(), SessionConfig(executor=executor, passes=passes, optimizer="off"))


def until(condition: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def results(session: Session) -> list[Any]:
    return [session.run("n4:0", {"x:0": [v]}).tolist() for v in (1.0, 2.0)]


@pytest.fixture
def registered(request: pytest.FixtureRequest) -> Callable[[Any], str]:
    def add(compile_body: Any) -> str:
        name = f"of {request.node.name}"
        register_compiler(name, compile_body)
        return name

    return add


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_is_compiled_runs(executor: Any, registered: Any) -> None:
    """Row H23. S3-build."""
    ran: list[int] = []

    def compile_body(body: Body, given: Sequence[Given]) -> Any:
        run = interpreted(body, given)

        def counted(args: Sequence[Any]) -> list[Any]:
            ran.append(1)
            return run(args)

        return counted

    found = session(registered(compile_body), executor, must_compile=True)
    assert results(found) == [[1.0], [256.0]]
    assert len(ran) == 2


def test_until_it_is_compiled_the_function_runs(registered: Any) -> None:
    """Row H23. S3-build."""
    may_go_on, done = threading.Event(), threading.Event()

    def compile_body(body: Body, given: Sequence[Given]) -> Any:
        may_go_on.wait(30)
        run = interpreted(body, given)

        def told(args: Sequence[Any]) -> list[Any]:
            done.set()
            return run(args)

        return told

    found = session(registered(compile_body))
    assert results(found) == [[1.0], [256.0]]
    assert not done.is_set()
    may_go_on.set()
    until(lambda: results(found) == [[1.0], [256.0]] and done.is_set())


@pytest.mark.filterwarnings("ignore::drystone_base.state.compilers.CompilerWarning")
def test_what_cannot_be_compiled_runs_as_it_is(registered: Any) -> None:
    """Row H23. S3-build."""

    def compile_body(body: Body, given: Sequence[Given]) -> Any:
        raise NotImplementedError("no such op")

    name = registered(compile_body)
    found = session(name)
    assert results(found) == [[1.0], [256.0]]
    with pytest.raises(KernelError, match="no such op"):
        results(session(name, must_compile=True))


def test_what_fails_as_it_runs_is_done_by_its_function(registered: Any) -> None:
    """Row H23. S3-build."""

    def compile_body(body: Body, given: Sequence[Given]) -> Any:
        def fails(args: Sequence[Any]) -> Any:
            raise RuntimeError("lost the machine")

        return fails

    found = session(registered(compile_body), must_compile=True)
    with pytest.warns(CompilerWarning, match="failed as it ran.*lost the machine"):
        assert found.run("n4:0", {"x:0": [2.0]}).tolist() == [256.0]


def test_each_set_of_shapes_is_compiled_once_up_to_a_bound(registered: Any) -> None:
    shapes: list[Any] = []

    def compile_body(body: Body, given: Sequence[Given]) -> Any:
        shapes.append(given[0].shape)
        return interpreted(body, given)

    found = session(registered(compile_body), must_compile=True)
    for size in (*range(1, 20), 3):
        assert found.run("n4:0", {"x:0": np.ones(size)}).tolist() == [1] * size
    assert shapes == [(size,) for size in range(1, 17)]


def test_a_compiler_that_is_not_there() -> None:
    assert find_compiler("nobody") is None
    with pytest.raises(GraphError) as caught:
        results(session("nobody"))
    assert isinstance(caught.value.inner, BadRequest)
    assert caught.value.inner.render() == (
        "there is no compiler 'nobody' for clusters [bad-pass-setting]\n"
        "  check: the setting 'compiler' must name one that was registered\n"
        "  found: 'nobody'\n"
        "  needed: a name that drystone_base.state.compilers.register_compiler was given\n"
        '  remedy: SessionConfig(passes={"BuildClusterOpsPass": {"compiler": NAME}})'
    )


@pytest.mark.filterwarnings("ignore::drystone_base.state.compilers.CompilerWarning")
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    """Row H23. S3-build."""
    name = "interpreted, for random programs"
    register_compiler(name, interpreted)
    passes: dict[str, Any] = {
        "MarkForCompilationPass": {"min_size": 1}, "EncapsulateSubgraphsPass": True,
        BUILD: {"compiler": name},
    }  # fmt: skip
    assert not differences(draw(seed), passes)


def of_variable(*, late: bool) -> Graph:
    """A computation that reads v, adds to it and, if ``late``, reads it again."""
    graph = Graph()
    attrs: dict[str, Any] = {"dtype": FLOAT, "_xla_compile_id": "it"}
    v = graph.add("VarHandleOp", "v", attrs={"dtype": FLOAT, "shape": (), "shared_name": "v"})
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    graph.add("AssignVariableOp", "init", [v, x], attrs={"dtype": FLOAT})
    old = graph.add("ReadVariableOp", "old", [v], attrs=attrs)
    more = {"T": FLOAT, "_xla_compile_id": "it"}
    total = graph.add("AddV2", "total", [old, x], attrs=more)
    add = graph.add("AssignAddVariableOp", "add", [v, total], attrs=attrs)
    last = graph.add("ReadVariableOp", "new", [v], controls=[add], attrs=attrs) if late else total
    graph.add("Neg", "minus", [last], controls=[add], attrs=more)
    graph.add("Identity", "out", [graph["minus"]], attrs={"T": FLOAT})
    return graph


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("late", [False, True])
def test_a_cluster_of_variables(late: bool, executor: Any, registered: Any) -> None:
    """S3-build: compiled without its reads and writes; a call where that is another order."""
    ops: list[set[str]] = []

    def compile_body(body: Body, given: Sequence[Given]) -> Any:
        ops.append({node.op for node in body.graph} - {"_Arg", "_Retval"})
        return interpreted(body, given)

    passes = {
        "EncapsulateComputationsPass": True,
        BUILD: {"compiler": registered(compile_body), "must_compile": True},
    }
    config = SessionConfig(executor=executor, optimizer="off")
    plain = Session(of_variable(late=late), config)
    found = Session(of_variable(late=late), replace(config, passes=passes))
    for one in (plain, found):
        one.run("init", {"x:0": 1})
    for value in (2, 3, -1):
        assert found.run("out:0", {"x:0": value}) == plain.run("out:0", {"x:0": value})
    assert found.run("init", {"x:0": 7}) is None
    assert found.run("out:0", {"x:0": 0}) == (-14 if late else -7)
    assert ops == ([] if late else [{"AddV2", "Neg"}])
