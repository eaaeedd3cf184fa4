"""Compilations that fail, hang or get lost, and constants that are none: runs go on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from interpreter import Compiling, Interpreter
from partitions import chain

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.host.operators import HostExecutable, HostState
from drystone_base.ops.attrs import TensorAttr
from drystone_subgraph import (
    CompileRequest,
    PartitionConfig,
    Subgraph,
    SubgraphNode,
    SubgraphWarning,
    executables,
)
from drystone_subgraph.compiled import compiled
from drystone_subgraph.contract.property import ContainOpProperty

Array = np.ndarray[Any, Any]
ONE = np.ones(2, np.float32)


def session_of(graph: Graph, executor: Any = "native", **config: Any) -> ds.Session:
    settings = PartitionConfig(("fake",), **config)
    return ds.Session(
        graph, ds.SessionConfig(subgraphs=settings, optimizer="off", executor=executor)
    )


class Packed(Interpreter):
    """Keeps copies of constants and weights, and looks at nothing else for them."""

    def __init__(self, request: CompileRequest) -> None:
        super().__init__(request)
        values = ((k, i.value) for k, i in enumerate(request.inputs))
        self.packed = {k: value.copy() for k, value in values if value is not None}

    def update(self, weights: Mapping[int, Array]) -> None:
        self.packed.update(weights)

    def __call__(self, inputs: Sequence[Array]) -> Sequence[Array]:
        return super().__call__([self.packed.get(k, a) for k, a in enumerate(inputs)])


class Fixed(Packed):
    """As Packed, but it cannot take new weights."""

    update = None  # type: ignore[assignment]


def sums() -> Graph:
    """``y = x + k`` of a constant of ones, ``z = x + v`` of a variable, which ``init`` sets."""
    graph, types = Graph(), {"T": FLOAT32}
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    k = graph.add("Const", "k", attrs={"dtype": FLOAT32, "value": TensorAttr(array=ONE)})
    attrs = {"dtype": FLOAT32, "shape": (2,), "shared_name": "v"}
    handle = graph.add("VarHandleOp", "v", attrs=attrs)
    graph.add("AssignVariableOp", "init", [handle, x], attrs={"dtype": FLOAT32})
    read = graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32})
    graph.add("AddV2", "y", [x, k], attrs=types)
    graph.add("AddV2", "z", [x, read], attrs=types)
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize(("fetch", "fed"), [("y:0", "k:0"), ("z:0", "read:0")])
def test_what_is_fed_is_no_constant(fetch: str, fed: str, executor: str) -> None:
    """A value in the place of a constant, or of a variable's value, is another in each run."""
    Compiling({"AddV2"}, Packed)
    session = session_of(sums(), executor)
    session.run("init", {"x:0": ONE})
    for value in (1, 5, 7):
        found = session.run(fetch, {"x:0": ONE, fed: ONE * value})
        np.testing.assert_array_equal(found, ONE + value)
    np.testing.assert_array_equal(session.run(fetch, {"x:0": ONE}), ONE + 1)


def test_a_creator_is_not_told_a_constant_that_is_fed() -> None:
    seen = []

    class Rule(ContainOpProperty):
        def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
            seen.append([(i.source, i.shape, i.value is None) for i in subgraph.inputs])
            return subgraph.node()

    backend = Compiling({"AddV2"})
    backend.properties = lambda: [Rule({"AddV2"})]  # type: ignore[method-assign]
    session = session_of(sums())
    session.run("y:0", {"x:0": ONE})
    session.run("y:0", {"x:0": ONE, "k:0": ONE})
    assert seen == [
        [("x:0", (2,), True), ("k:0", (2,), False)],
        [("x:0", (2,), True), ("k:0", None, True)],
    ]


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_a_run_that_waits_for_a_compilation_can_be_cancelled(executor: Any) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def make(request: CompileRequest) -> Interpreter:
        begun.set()
        assert go_on.wait(60)
        return Interpreter(request)

    def cancel() -> None:
        assert begun.wait(60)
        stop.cancel()

    Compiling({"AddN"}, make)
    session, stop = session_of(chain(3), executor), ds.Cancellation()
    cancelling = threading.Thread(target=cancel)
    cancelling.start()
    with pytest.raises(ds.KernelError) as caught:
        session.run("n2:0", {"x:0": ONE}, cancellation=stop)
    cancelling.join()
    assert caught.value.code == "run-cancelled"
    go_on.set()
    np.testing.assert_array_equal(session.run("n2:0", {"x:0": ONE}), ONE)
    assert [one.state for one in executables(session)] == ["ready"]


def test_without_a_thread_the_host_runs_the_region(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(self: threading.Thread) -> None:
        if self.name.startswith("compile "):
            raise RuntimeError("can't start new thread")
        start(self)

    backend = Compiling({"AddN"})
    session = session_of(chain(3))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.warns(SubgraphWarning, match="cannot compile it: can't start new thread"):
            np.testing.assert_array_equal(session.run("n2:0", {"x:0": ONE}), ONE)
    np.testing.assert_array_equal(session.run("n2:0", {"x:0": ONE}), ONE)
    assert [(e.state, e.runs) for e in executables(session)] == [("ready", 1)]
    assert len(backend.requests) == 1


def _leaves(_: CompileRequest) -> Any:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (_leaves, "SystemExit: 3"),
        (lambda _: None, "TypeError: a backend gives an executable, and not None"),
    ],
)
def test_what_comes_to_nothing_is_told(make: Any, text: str) -> None:
    Compiling({"AddN"}, make)
    session = session_of(chain(3))
    with pytest.warns(SubgraphWarning, match=text):
        np.testing.assert_array_equal(session.run("n2:0", {"x:0": ONE}), ONE)
    assert [(e.state, e.fallbacks) for e in executables(session)] == [("failed", 1)]


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_new_weights_are_waited_for_as_long_as_said(executor: str) -> None:
    """What is compiled again for them is compiled in the background, too."""
    may_end, begun = threading.Event(), threading.Semaphore(0)

    def slow(request: CompileRequest) -> Fixed:
        begun.release()
        assert may_end.wait(60)
        return Fixed(request)

    backend = Compiling({"AddV2"}, slow)
    session = session_of(sums(), executor, patience=0.0)
    session.run("init", {"x:0": ONE})
    for value in (1, 4):
        session.run("init", {"x:0": ONE * value})
        may_end.set()
        while session.run("z:0", {"x:0": ONE}) is None or executables(session)[0].state != "ready":
            time.sleep(0.001)
        found = session.run("z:0", {"x:0": ONE})
        np.testing.assert_array_equal(found, ONE + value)
        assert begun.acquire(timeout=60)
        session.run("init", {"x:0": ONE * 9})
        may_end.clear()
        before = time.monotonic()
        np.testing.assert_array_equal(session.run("z:0", {"x:0": ONE}), ONE * 10)
        assert time.monotonic() - before < 30, "it did not wait for the compilation"
        assert executables(session)[0].state == "compiling"
        assert begun.acquire(timeout=60)
    may_end.set()
    assert len(backend.requests) >= 4


def test_a_compilation_that_a_fork_left_behind_begins_again() -> None:
    may_end = threading.Event()

    def slow(request: CompileRequest) -> Interpreter:
        assert may_end.wait(60)
        return Interpreter(request)

    Compiling({"AddN"}, slow)
    session = session_of(chain(3), "reference")
    waiting = threading.Thread(target=session.run, args=("n2:0", {"x:0": ONE}))
    waiting.start()
    while not executables(session):
        time.sleep(0.001)
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        may_end.set()
        good = False
        with suppress(BaseException):
            good = bool((session.run("n2:0", {"x:0": ONE}) == ONE).all())
        os._exit(0 if good else 1)
    may_end.set()
    waiting.join(60)
    assert _ended(child) == 0


def _ended(child: int) -> int:
    """The status of a process, which has a minute."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_facts_are_told_while_another_thread_lets_go(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Any] = [object.__new__(HostExecutable), None]
    monkeypatch.setattr(HostExecutable, "state", lambda _: HostState(2, 3, 4, None, 0))

    class Closing(compiled._Entry):
        @property  # type: ignore[override]
        def executable(self) -> Any:
            return held.pop(0)

        @executable.setter
        def executable(self, value: Any) -> None:
            assert value is None

    assert Closing(((2,),)).facts() == (2, 3, 4)
