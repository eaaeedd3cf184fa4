"""Operators that hold executables: specialisations, fallback, weights, background, bodies."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from interpreter import Compiling, Interpreter
from partitions import chain, only

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32, RESOURCE
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_subgraph import (
    CompileRequest,
    ContainOpProperty,
    Executable,
    PartitionConfig,
    SubgraphBackend,
    SubgraphProperty,
    SubgraphWarning,
    executables,
    partition,
    register_backend,
)

Array = np.ndarray[Any, Any]


def session_of(graph: Graph, executor: Any = "native", **config: Any) -> ds.Session:
    settings = PartitionConfig(("fake",), **config)
    return ds.Session(
        graph, ds.SessionConfig(subgraphs=settings, optimizer="off", executor=executor)
    )


def open_chain() -> Graph:
    """A chain of three whose input has any shape."""
    graph = chain(3)
    graph.set_attr(graph["x"], "shape", None)
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_an_executable_computes_the_region(executor: str) -> None:
    """S1-operator, S1-engine."""
    backend = Compiling({"AddN"})
    session = session_of(open_chain(), executor)
    for size in (2, 2, 3):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), x)
    assert [r.inputs[0].shape for r in backend.requests] == [(2,), (3,)]
    assert [r.output_types for r in backend.requests] == [[FLOAT32]] * 2
    found = executables(session)
    assert [(e.shapes, e.state, e.runs, e.fallbacks) for e in found] == [
        (((2,),), "ready", 2, 0), (((3,),), "ready", 1, 0),
    ]  # fmt: skip


def test_so_many_specialisations_are_kept() -> None:
    """Row D19."""
    backend = Compiling({"AddN"})
    session = session_of(open_chain(), specialisations=2)
    for size in (1, 2, 1, 3, 2):
        session.run("n2:0", {"x:0": np.zeros(size, np.float32)})
    assert [e.shapes for e in executables(session)] == [((3,),), ((2,),)]
    assert [r.inputs[0].shape for r in backend.requests] == [(1,), (2,), (3,), (2,)]


def _refuses(request: CompileRequest) -> Executable:
    raise ValueError(f"no room for {request.name}")


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_a_compilation_that_fails_does_not_fail_a_run(executor: str) -> None:
    Compiling({"AddN"}, _refuses)
    session = session_of(chain(3), executor)
    x = np.ones(2, np.float32)
    with pytest.warns(SubgraphWarning, match="cannot compile it: ValueError: no room for fake_sub"):
        np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), x)
    np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), x)
    (found,) = executables(session)
    assert (found.state, found.fallbacks) == ("failed", 2)


class _Promises(SubgraphBackend):
    """Says that it compiles, and does not."""

    name, compiles = "fake", True

    def properties(self) -> Sequence[SubgraphProperty]:
        return [ContainOpProperty({"AddN"})]


def test_a_backend_without_compile_does_not_fail_a_run() -> None:
    register_backend(_Promises())
    session, x = session_of(chain(3)), np.ones(2, np.float32)
    text = "subgraph backend 'fake' compiles nothing"
    with pytest.warns(SubgraphWarning, match=text):
        np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), x)
    assert [one.state for one in executables(session)] == ["failed"]


def _raises(_: CompileRequest) -> Executable:
    def call(inputs: Sequence[Array]) -> Sequence[Array]:
        raise RuntimeError(f"lost {len(inputs)}")

    return call


def _wrong(_: CompileRequest) -> Executable:
    return lambda inputs: [inputs[0].astype(np.float64)]


@pytest.mark.parametrize(
    ("make", "text"),
    [(_raises, "failed while it ran: RuntimeError: lost 1"), (_wrong, "output 0 is float64")],
)
def test_an_executable_that_fails_does_not_fail_a_run(make: Any, text: str) -> None:
    Compiling({"AddN"}, make)
    session, x = session_of(chain(3)), np.ones(2, np.float32)
    with pytest.warns(SubgraphWarning, match=text):
        np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), x)
    np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), x)


def test_a_slow_compilation_goes_on_in_the_background() -> None:
    may_end = threading.Event()

    def slow(request: CompileRequest) -> Executable:
        assert may_end.wait(60)
        return Interpreter(request)

    Compiling({"AddN"}, slow)
    session, x = session_of(chain(3), patience=0.0), np.ones(2, np.float32)
    np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), x)
    assert [(e.state, e.runs, e.fallbacks) for e in executables(session)] == [("compiling", 0, 1)]
    may_end.set()
    while executables(session)[0].state == "compiling":
        pass
    np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), x)
    assert [(e.state, e.runs, e.fallbacks) for e in executables(session)] == [("ready", 1, 1)]


class Packed(Interpreter):
    """Packs its weights: it never looks at the inputs for them."""

    def __init__(self, request: CompileRequest) -> None:
        super().__init__(request)
        self.weights = {k: i.value for k, i in enumerate(request.inputs) if i.is_weight}

    def update(self, weights: Mapping[int, Array]) -> None:
        self.weights.update(weights)

    def __call__(self, inputs: Sequence[Array]) -> Sequence[Array]:
        given = [self.weights.get(k, a) for k, a in enumerate(inputs)]
        return super().__call__([a for a in given if a is not None])


class Fixed(Packed):
    """As Packed, but it cannot take new weights."""

    update = None  # type: ignore[assignment]


def variable_graph() -> Graph:
    """``y = (x + v) * c``, and ``set``, which makes ``v`` the sum of itself and ``x``."""
    graph, types = Graph(), {"T": FLOAT32}
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    handle = graph.add(
        "VarHandleOp", "v", attrs={"dtype": FLOAT32, "shape": (2,), "shared_name": "v"}
    )
    graph.add("AssignVariableOp", "init", [handle, x], attrs={"dtype": FLOAT32})
    graph.add("AssignAddVariableOp", "set", [handle, x], attrs={"dtype": FLOAT32})
    read = graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32})
    value = TensorAttr(array=np.array([2, 3], np.float32))
    two = graph.add("Const", "two", attrs={"dtype": FLOAT32, "value": value})
    graph.add("Mul", "y", [graph.add("AddV2", "sum", [x, read], attrs=types), two], attrs=types)
    assert handle.op == "VarHandleOp", RESOURCE
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize("make", [Packed, Fixed])
def test_weights_are_packed_once_for_each_value(make: Any, executor: str) -> None:
    """Row D21. S1-weights."""
    backend = Compiling({"AddV2", "Mul"}, make)
    session, one = session_of(variable_graph(), executor), np.ones(2, np.float32)
    session.run("init", {"x:0": one})
    packs = []
    for change in (False, False, True, False, True, True):
        if change:
            session.run("set", {"x:0": one})
        expected = (one + session.run("read:0")) * [2, 3]
        np.testing.assert_array_equal(session.run("y:0", {"x:0": one}), expected)
        packs.append(executables(session)[0].packs)
    assert packs == [1, 1, 2, 2, 3, 4]
    kinds = [(i.is_weight, i.value is not None) for i in backend.requests[0].inputs]
    assert sorted(kinds) == [(False, False), (False, True), (True, True)]
    assert len(backend.requests) == (1 if make is Packed else 4)


def test_regions_in_bodies_of_loops() -> None:
    """Row D12."""
    from drystone_abi.protos import FunctionDef

    graph = Graph()
    for name, op, result in (("cond", "Less", "bool"), ("body", "AddV2", "float")):
        kind = {"bool": 10, "float": 1}[result]
        proto = FunctionDef()
        proto.signature.name = name
        proto.signature.input_arg.add(name="x", type=1)
        proto.signature.output_arg.add(name="r", type=kind)  # type: ignore[arg-type]
        body = Graph()
        value = TensorAttr(array=np.array(5 if op == "Less" else 1, np.float32))
        proto.node_def.append(
            body.add("Const", "c", attrs={"dtype": FLOAT32, "value": value}).to_proto()
        )
        made = body.add(op, "z", attrs={"T": FLOAT32}).to_proto()
        made.input.extend(["x", "c:output:0"])
        proto.node_def.append(made)
        proto.ret["r"] = "z:z:0"
        graph.functions.add(proto)
    from drystone_base.ops.attrs import FunctionRef

    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": ()})
    attrs = {"T": [FLOAT32], "cond": FunctionRef("cond", {}), "body": FunctionRef("body", {})}
    graph.add("StatelessWhile", "loop", [x], attrs=attrs)
    backend = Compiling({"AddV2"})
    session = session_of(graph)
    assert session.run("loop:0", {"x:0": np.float32(0.5)}) == 5.5
    assert [e.runs for e in executables(session)] == [5]
    assert len(backend.requests) == 1
    held = partition(graph, ["loop:0"], ["x:0"], PartitionConfig(("fake",))).functions["body"]
    assert sorted(held.ops()) == ["Const", "PartitionedCall"]


def test_executables_go_with_the_session() -> None:
    """Row D16. S1-operator, S1-isolation."""
    Compiling({"AddN"})
    session = session_of(chain(3))
    session.run("n2:0", {"x:0": np.ones(2, np.float32)})
    session.close()
    assert executables(session) == []


def test_backends_that_compile_and_those_that_do_not() -> None:
    backend = Compiling({"AddN"})
    only("plain", {"AddN"})
    config = ds.SessionConfig(subgraphs="plain,fake", optimizer="off")
    ds.Session(chain(3), config).run("n2:0", {"x:0": np.ones(2, np.float32)})
    session = session_of(chain(3), patience=-1.0)
    session.run("n2:0", {"x:0": np.ones(2, np.float32)})
    assert not backend.requests
    assert not executables(session)


def test_large_feeds_reach_an_executable_uncopied() -> None:
    """An operator is stateful by its executables, and holds nothing of what goes in."""
    seen: list[int] = []

    class Looking(Compiling):
        def compile(self, request: CompileRequest) -> Executable:
            inner = super().compile(request)

            def run(inputs: Sequence[Array]) -> Sequence[Array]:
                seen.append(inputs[0].ctypes.data)
                return inner(inputs)

            return run

    Looking({"AddN"})
    session = session_of(open_chain())
    room = np.zeros(100_016, np.float32)
    start = -room.ctypes.data % 64 // 4
    x = room[start : start + 100_000]
    session.run("n2:0", {"x:0": x})
    assert seen == [x.ctypes.data]
