"""TVM as a subgraph backend: regions in sessions, weights, what is kept, what is too slow."""

from __future__ import annotations

import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds

pytest.importorskip("tvm", reason="apache-tvm is not installed: `nox -s tvm` installs it")
subgraph = pytest.importorskip("drystone_subgraph", reason="regions are cut by drystone-subgraph")
F32 = np.float32


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept elsewhere, and what was compiled is used however slow it is."""
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DRYSTONE_TVM_MEASURED", "off")


def network() -> ds.Graph:
    """A chain around a product with a weight, and an op that no rule has."""
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", shape=(-1, 4), name="x")
    w = b.node("VarHandleOp", dtype="float32", shape=(4, 3), shared_name="w", name="w")
    b.node("AssignVariableOp", w, b.const(np.ones((4, 3), F32)), name="set")
    read = b("ReadVariableOp", w, dtype="float32")
    product = b("MatMul", x, read)
    summed = b("Cumsum", b("Tanh", b("Mul", product, b.const(0.5))), b.const(0))
    total = b("Sum", b("Square", summed), b.const([1]), keep_dims=True)
    b("Sub", summed, total, name="y")
    return graph


def config(**options: Any) -> ds.SessionConfig:
    chosen = subgraph.PartitionConfig(backends=("tvm",), **options)
    return ds.SessionConfig(subgraphs=chosen, optimizer="off")


def test_regions_run_in_sessions_with_weights_as_arguments() -> None:
    x = np.linspace(-1, 1, 8).astype(F32).reshape(2, 4)
    session, plain = ds.Session(network(), config()), ds.Session(network())
    with warnings.catch_warnings():
        warnings.simplefilter("error", subgraph.SubgraphWarning)
        for weights in (None, np.eye(4, 3, dtype=F32)):
            for one in (session, plain):
                if weights is None:
                    one.run(["set"])
                else:
                    one.variables["w"].value = weights
            for rows in (x, x[:1]):
                found, expected = (one.run("y:0", {"x:0": rows}) for one in (session, plain))
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    made = subgraph.executables(session)
    assert {one.backend for one in made} == {"tvm"}
    assert all(one.state == "ready" and one.fallbacks == 0 for one in made)
    assert len(made) == 4  # two regions, for two shapes: new weights compile nothing


def test_libraries_are_kept_for_other_sessions() -> None:
    x = {"x:0": np.ones((2, 4), F32)}
    first = ds.Session(network(), config())
    first.run(["set"])
    expected = first.run("y:0", x)
    again = ds.Session(network(), config())
    again.run(["set"])
    np.testing.assert_array_equal(again.run("y:0", x), expected)
    assert [one.loaded for one in subgraph.executables(first)] == [False, False]
    assert [one.loaded for one in subgraph.executables(again)] == [True, True]


def test_what_is_slower_than_drystones_own_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from drystone_tvm.backend import backend, measured

    monkeypatch.setenv("DRYSTONE_TVM_MEASURED", "on")
    monkeypatch.setattr(backend, "measure", lambda *_: measured.Times(2e-3, 1e-3))
    session = ds.Session(network(), config())
    session.run(["set"])
    x = {"x:0": np.ones((2, 4), F32)}
    with pytest.warns(subgraph.SubgraphWarning, match="2000 us a call by TVM, 1000 us by drystone"):
        found = session.run("y:0", x)
    plain = ds.Session(network())
    plain.run(["set"])
    np.testing.assert_allclose(found, plain.run("y:0", x), rtol=1e-6)
    assert {one.state for one in subgraph.executables(session)} == {"failed"}


def test_both_are_measured() -> None:
    from drystone_tvm.backend.measured import measure, own_kernels

    from drystone_abi.protos import AttrValue, FunctionDef
    from drystone_base.graph import Function

    proto = FunctionDef()
    proto.signature.name = "square"
    proto.signature.input_arg.add(name="x", type=1)
    proto.signature.output_arg.add(name="y", type=1)
    proto.node_def.add(name="n", op="Square", input=["x"]).attr["T"].CopyFrom(AttrValue(type=1))  # type: ignore[arg-type]
    proto.ret["y"] = "n:y:0"
    body = Function(proto).body(ds.Graph().functions)
    times = measure(lambda arrays: [arrays[0]], own_kernels(body), [np.ones(10, F32)])
    assert 0 < times.compiled < times.own < 1


def test_why_nodes_stay_outside() -> None:
    _, report = subgraph.partition_with_report(
        network(), ["y:0"], ["x:0"], subgraph.PartitionConfig(backends=("tvm",), why=True)
    )
    reasons = {name: why["tvm"] for (_, name), why in report.why.items() if "tvm" in why}
    assert reasons["Cumsum"] == "there is no rule for Cumsum"
    assert sorted(s.outcome for s in report.segments) == ["taken", "taken"]


class _Tangents(subgraph.SubgraphBackend):  # type: ignore[misc,name-defined]
    """Takes single products by a number and tangents; the host executor runs them."""

    name = "tangents"

    def properties(self) -> Any:
        return [subgraph.ContainOpProperty(("Mul", "Tanh"), minimum_size=1)]


@pytest.fixture(scope="module")
def tangents() -> None:
    subgraph.register_backend(_Tangents())


@pytest.mark.usefixtures("tangents")
@pytest.mark.parametrize(
    ("backends", "worth", "taken"),
    [
        (("tvm", "tangents"), "", {"tvm": "MatMul Mul Square Sub Sum Tanh"}),
        (("tangents", "tvm"), "", {"tangents": "Mul Tanh", "tvm": "Square Sub Sum"}),
        (("tvm", "tangents"), "MatMul", {"tvm": "MatMul Mul Tanh"}),
        (("tvm", "tangents"), "Sum", {"tvm": "Square Sub Sum", "tangents": "Mul Tanh"}),
    ],
)
def test_the_first_backend_has_the_first_choice_and_the_gate_the_last_word(
    backends: tuple[str, ...], worth: str, taken: dict[str, str]
) -> None:
    graph = network()

    def gate(region: Any) -> str:
        ops = {node.op for node in region.function.node_def}
        return "" if worth in ("", *ops) or ops <= {"Mul", "Tanh"} else "it costs too much"

    told = subgraph.PartitionConfig(backends=backends, gate=gate, why=True)
    _, report = subgraph.partition_with_report(graph, ["y:0"], ["x:0"], told)
    found: dict[str, list[str]] = {}
    for segment in report.taken:
        found.setdefault(segment.backend, []).extend(graph[name].op for name in segment.nodes)
    ops = {op for names in taken.values() for op in names.split()}
    assert {k: " ".join(sorted(ops & set(v))) for k, v in found.items()} == taken
    gated = [s.reason for s in report.segments if s.outcome == "not worth it"]
    assert gated == ["it costs too much"] * len(gated)
    assert bool(gated) == bool(worth)
    session = ds.Session(network(), ds.SessionConfig(subgraphs=told, optimizer="off"))
    plain = ds.Session(network())
    for one in (session, plain):
        one.run(["set"])
    x = {"x:0": np.linspace(-1, 1, 8).astype(F32).reshape(2, 4)}
    np.testing.assert_allclose(session.run("y:0", x), plain.run("y:0", x), rtol=1e-5, atol=1e-6)


def test_runs_do_not_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the library is there drystone's own kernels run the region, with the same result."""
    from drystone_tvm.compiling.building import build as real

    may_end = threading.Event()

    def slow(*args: Any, **options: Any) -> Any:
        assert may_end.wait(60)
        return real(*args, **options)

    monkeypatch.setattr("drystone_tvm.backend.backend.build", slow)
    session, plain = ds.Session(network(), config(patience=0.0)), ds.Session(network())
    for one in (session, plain):
        one.run(["set"])
    x = {"x:0": np.ones((2, 4), F32)}
    expected = plain.run("y:0", x)
    np.testing.assert_allclose(session.run("y:0", x), expected, rtol=1e-6)
    before = subgraph.executables(session)
    assert {(one.state, one.runs, one.fallbacks) for one in before} == {("compiling", 0, 1)}
    may_end.set()
    end = time.monotonic() + 60
    while {one.state for one in subgraph.executables(session)} != {"ready"}:
        assert time.monotonic() < end, subgraph.executables(session)
        session.run("y:0", x)
        time.sleep(0.05)
    np.testing.assert_allclose(session.run("y:0", x), expected, rtol=1e-5, atol=1e-6)
    assert all(one.runs for one in subgraph.executables(session))


def test_a_large_region_becomes_several_that_are_not() -> None:
    graph = ds.Graph()
    b = ds.Builder(graph)
    last = b("Placeholder", dtype="float32", shape=(3,), name="x")
    for k in range(100):
        last = b("AddV2", b("Neg", last, name=f"n{k}"), last)
    _, report = subgraph.partition_with_report(graph, [last[0].name], ["x:0"], "tvm")
    sizes = [len(segment.nodes) for segment in report.taken]
    assert sum(sizes) == 200
    assert max(sizes) <= 40
    assert min(sizes) >= 2
