"""The backend ``cpu``: regions as plans of kernels of drystone-cpu."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import difference
from shared_data import MODELS, inference_models, tolerance

import drystone_base as ds
from drystone_base import plugins
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, INT64, STRING
from drystone_base.core.errors import BadRequest, DrystoneError, KernelError
from drystone_base.executor.selection import registered
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_subgraph import (
    PartitionConfig,
    SubgraphWarning,
    executables,
    find_backend,
    partition_with_report,
)
from drystone_subgraph.bundled import cpu
from drystone_subgraph.compiled import compiled

BUILT = os.environ.get("DRYSTONE_CPU_PLUGIN")
FLOATS = {"T": FLOAT32}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def kernels() -> None:
    """Skips where there are no kernels of drystone-cpu."""
    if BUILT:  # before an installed one
        plugins.load_library(BUILT, policy="allow_unverified")
    plugins.ensure_loaded()
    if "MatMul" not in registered():
        pytest.skip("drystone-cpu is not installed")


pytestmark = pytest.mark.filterwarnings("error::drystone_subgraph.SubgraphWarning")


def constant(graph: Graph, name: str, value: Any, dtype: Any = FLOAT32) -> Any:
    held = TensorAttr(array=np.asarray(value, dtype.np))
    return graph.add("Const", name, attrs={"dtype": dtype, "value": held})


def session(graph: Graph, backend: str = "cpu", **config: Any) -> ds.Session:
    settings = PartitionConfig((backend,)) if backend else "off"
    return ds.Session(graph, ds.SessionConfig(subgraphs=settings, **config))


def layers(rows: int = -1) -> Graph:
    """``y``: two layers of ``x``, in whose middle a reshape computes its shape."""
    graph, rng = Graph(), np.random.default_rng(5)
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (rows, 8)})
    first = graph.add(
        "MatMul", "first", [x, constant(graph, "w", rng.normal(size=(8, 6)))], attrs=FLOATS
    )
    biased = graph.add(
        "BiasAdd", "biased", [first, constant(graph, "b", rng.normal(size=6))], attrs=FLOATS
    )
    active = graph.add("Relu", "active", [biased], attrs=FLOATS)
    shape = graph.add("Shape", "shape", [active], attrs={"T": FLOAT32, "out_type": INT32})
    again = graph.add("Reshape", "again", [active, shape], attrs={"T": FLOAT32, "Tshape": INT32})
    graph.add("MatMul", "y", [again, constant(graph, "w2", rng.normal(size=(6, 3)))], attrs=FLOATS)
    return graph


def loop(limit: int) -> Graph:
    """``y``: ``x`` after ``limit`` rounds of a loop, each of which adds ``x / 1024``."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (64, 64)})
    step = graph.add("Mul", "step", [x, constant(graph, "k", 1 / 1024)], attrs=FLOATS)
    begin = constant(graph, "begin", 0, INT32)
    types = {"T": [INT32, FLOAT32, FLOAT32]}
    arguments = [("count", INT32), ("sum", FLOAT32), ("step", FLOAT32)]
    graph.functions.add(_function("goes", arguments, [
        {"name": "most", "op": "Const", "attrs": {"dtype": INT32, "value": limit}},
        {"name": "less", "op": "Less", "inputs": ["count", "most:output:0"], "T": INT32},
    ], [("less:z:0", BOOL)]))  # fmt: skip
    graph.functions.add(_function("adds", arguments, [
        {"name": "one", "op": "Const", "attrs": {"dtype": INT32, "value": 1}},
        {"name": "next", "op": "AddV2", "inputs": ["count", "one:output:0"], "T": INT32},
        {"name": "more", "op": "AddV2", "inputs": ["sum", "step"], "T": FLOAT32},
    ], [("next:z:0", INT32), ("more:z:0", FLOAT32), ("step", FLOAT32)]))  # fmt: skip
    called = {"cond": FunctionRef("goes", {}), "body": FunctionRef("adds", {})}
    while_ = graph.add("StatelessWhile", "while", [begin, x, step], attrs=types | called)
    graph.add("Neg", "y", [(while_, 1)], attrs=FLOATS)
    return graph


def _function(name: str, arguments: Any, nodes: Any, results: Any) -> Any:
    from drystone_abi.protos import FunctionDef
    from drystone_base.core.tensor import to_proto

    proto = FunctionDef()
    proto.signature.name = name
    for arg, dtype in arguments:
        proto.signature.input_arg.add(name=arg, type=dtype.number)
    for row in nodes:
        node = proto.node_def.add(name=row["name"], op=row["op"], input=row.get("inputs", ()))
        if "T" in row:
            node.attr["T"].type = row["T"].number
        for key, value in row.get("attrs", {}).items():
            if key == "value":
                node.attr[key].tensor.CopyFrom(to_proto(np.array(value, np.int32)))
            else:
                node.attr[key].type = value.number
    for k, (source, dtype) in enumerate(results):
        proto.signature.output_arg.add(name=f"r{k}", type=dtype.number)
        proto.ret[f"r{k}"] = source
    return proto


X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)


def test_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "registered", dict)
    with pytest.raises(BadRequest, match="pip install drystone-cpu") as caught:
        find_backend("cpu").properties()
    assert caught.value.code == "subgraph-package-missing"
    assert caught.value.check == "its plans consist of kernels of plugins"


@pytest.mark.cases_in_gate(3)
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("row", inference_models(), ids=lambda r: r["name"])
def test_recorded_models(row: dict[str, Any]) -> None:
    config = ds.SessionConfig(subgraphs="cpu")
    model = ds.load(MODELS / row["name"] / row["file"], config=config)
    ref = next(ref for ref in row["refs"] if ref["kind"] != "train")
    data = np.load(MODELS / row["name"] / ref["file"], allow_pickle=True)
    feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
    for _ in range(2):  # by way of Python, and without
        got = model.run(list(ref["outputs"]), feeds)
        for (tensor, key), value in zip(ref["outputs"].items(), got, strict=True):
            worst = difference(np.asarray(value), data[key])
            assert worst <= tolerance(row), f"{ref['file']} {tensor}: differs by {worst:.3g}"
    found = executables(model.session)
    assert found
    assert {(e.state, e.fallbacks) for e in found} == {("ready", 0)}


@pytest.mark.usefixtures("kernels")
def test_one_region_is_one_plan_for_each_shape() -> None:
    graph = layers()
    expected, mine = session(graph, ""), session(graph)
    for rows in (4, 2, 4, 1):
        np.testing.assert_allclose(
            mine.run("y:0", {"x:0": X[:rows]}), expected.run("y:0", {"x:0": X[:rows]}), rtol=1e-5
        )
    found = {e.shapes[0]: e.runs for e in executables(mine)}
    assert found == {(4, 8): 2, (2, 8): 1, (1, 8): 1}


@pytest.mark.usefixtures("kernels")
def test_a_region_is_optimized_for_its_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    compiles = cpu.CpuBackend.compile

    def noted(self: Any, request: Any) -> Any:
        made.append(compiles(self, request))
        return made[-1]

    monkeypatch.setattr(cpu.CpuBackend, "compile", noted)
    session(layers(), optimizer="off").run("y:0", {"x:0": X})
    ops = [node.node_def for node in made[0].plan.blocks[0].instructions]
    assert not any(b"Reshape" in text or b"Shape" in text for text in ops)
    assert any(b"_FusedMatMul" in text for text in ops)


@pytest.mark.usefixtures("kernels")
def test_loops_are_inside() -> None:
    graph = loop(5)
    _, report = partition_with_report(graph, ["y"], ["x"], "cpu")
    assert [set(s.nodes) for s in report.taken] == [{"step", "while", "y"}]
    x = np.ones((64, 64), np.float32)
    np.testing.assert_allclose(session(graph).run("y:0", {"x:0": x}), -x * (1 + 5 / 1024))


@pytest.mark.usefixtures("kernels")
def test_what_is_left_and_why() -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (4,)})
    drawn = graph.add("RandomUniform", "drawn", [constant(graph, "n", [4], INT32)],
                      attrs={"T": INT32, "dtype": FLOAT32})  # fmt: skip
    total = graph.add("AddV2", "total", [x, drawn], attrs=FLOATS)
    graph.add("Exp", "y", [total], attrs=FLOATS)
    _, report = partition_with_report(graph, ["y"], ["x"], PartitionConfig(("cpu",), why=True))
    assert report.taken[0].nodes == ("total", "y")
    assert report.why["", "drawn"] == {"cpu": "RandomUniform has state"}
    assert report.why["", "n"] == {"cpu": "constants are inputs of regions"}


def weighted() -> Graph:
    """``y = tanh(x @ v)``; ``init`` sets ``v``, ``add`` changes it."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (4, 8)})
    new = graph.add("Placeholder", "new", attrs={"dtype": FLOAT32, "shape": (8, 5)})
    handle = graph.add("VarHandleOp", "v",
                       attrs={"dtype": FLOAT32, "shape": (8, 5), "shared_name": "v"})  # fmt: skip
    graph.add("AssignVariableOp", "init", [handle, new], attrs={"dtype": FLOAT32})
    graph.add("AssignAddVariableOp", "add", [handle, new], attrs={"dtype": FLOAT32})
    read = graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32})
    product = graph.add("MatMul", "product", [x, read], attrs=FLOATS)
    graph.add("Tanh", "y", [product], attrs=FLOATS)
    return graph


@pytest.mark.usefixtures("kernels")
def test_a_new_weight_is_seen_at_once_and_packed_once() -> None:
    mine, w = session(weighted()), np.full((8, 5), 0.25, np.float32)
    mine.run("init", {"new:0": w})
    for _ in range(4):
        np.testing.assert_allclose(mine.run("y:0", {"x:0": X}), np.tanh(X @ w), rtol=1e-5)
    mine.run("add", {"new:0": w})
    for _ in range(4):
        np.testing.assert_allclose(mine.run("y:0", {"x:0": X}), np.tanh(X @ (2 * w)), rtol=1e-5)
    (found,) = executables(mine)
    assert (found.runs, found.packs, found.fallbacks) == (8, 2, 0)


@pytest.mark.usefixtures("kernels")
def test_runs_need_no_surroundings_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, w = session(weighted()), np.full((8, 5), 0.25, np.float32)
    mine.run("init", {"new:0": w})
    run, slow = ds.Session._run, []

    def counted(self: ds.Session, *args: Any) -> Any:
        slow.append(args)
        return run(self, *args)

    monkeypatch.setattr(ds.Session, "_run", counted)
    for _ in range(4):
        found = mine.run("y:0", {"x:0": X})
        np.testing.assert_allclose(found, np.tanh(X @ w), rtol=1e-5)
    with mine.record() as record:
        mine.run("y:0", {"x:0": X})
    assert (len(slow), len(record.runs)) == (1, 1)
    assert sum(e.runs for e in executables(mine)) == 5


@pytest.mark.usefixtures("kernels")
def test_strings_go_in_without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": STRING, "shape": (-1,)})
    graph.set_attr(x, "shape", None)
    number = graph.add("StringToHashBucketFast", "number", [x], attrs={"num_buckets": 1000})
    graph.add("Mul", "y", [number, number], attrs={"T": INT64})
    run, calls = compiled.CompiledOperator.run, []

    def counted(self: Any, *args: Any) -> Any:
        calls.append(1)
        return run(self, *args)

    monkeypatch.setattr(compiled.CompiledOperator, "run", counted)
    mine, plain = session(graph), session(graph, "")
    for words in (["a", "bc"], ["d", "ef"], ["", "g" * 100]):
        given = {"x:0": np.array([word.encode() for word in words], object)}
        np.testing.assert_array_equal(mine.run("y:0", given), plain.run("y:0", given))
    (found,) = executables(mine)
    assert (found.runs, found.fallbacks, len(calls)) == (3, 0, 1)


@pytest.mark.usefixtures("kernels")
def test_a_constant_is_hashed_once_for_all_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    from drystone_subgraph.compiled import artefacts

    hashed, digest = [], artefacts.digest

    def counted(value: Any) -> bytes:
        hashed.append(value.shape)
        return digest(value)

    monkeypatch.setattr(artefacts, "digest", counted)
    mine = session(layers(), optimizer="off")
    for rows in (1, 2, 3):
        mine.run("y:0", {"x:0": X[:rows]})
    assert sorted(hashed) == [(6,), (6, 3), (8, 6)]


@pytest.mark.usefixtures("kernels")
def test_a_plan_is_kept_without_the_constants_of_its_region(cache: Path) -> None:
    graph, rng = Graph(), np.random.default_rng(1)
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (4, 8)})
    big = constant(graph, "w", rng.normal(size=(8, 100_000)))
    product = graph.add("MatMul", "product", [x, big], attrs=FLOATS)
    graph.add("Tanh", "y", [product], attrs=FLOATS)
    first, again = session(graph), session(graph)
    np.testing.assert_array_equal(first.run("y:0", {"x:0": X}), again.run("y:0", {"x:0": X}))
    assert [e.loaded for s in (first, again) for e in executables(s)] == [False, True]
    assert 0 < sum(f.stat().st_size for f in cache.rglob("*") if f.is_file()) < 20_000


@pytest.mark.usefixtures("kernels")
def test_a_run_is_cancelled_in_the_middle_of_a_region() -> None:
    mine, x = session(loop(5)), np.ones((64, 64), np.float32)
    mine.run("y:0", {"x:0": x})
    endless = session(loop(2_000_000_000))
    stop = ds.Cancellation()
    run = threading.Thread(target=_ends, args=(endless, x, stop))
    run.start()
    time.sleep(0.3)
    stop.cancel()
    run.join(60)
    assert not run.is_alive()


def _ends(running: ds.Session, x: Any, stop: Any) -> None:
    with pytest.raises(DrystoneError, match="cancelled"):
        running.run("y:0", {"x:0": x}, cancellation=stop)


@pytest.mark.usefixtures("kernels")
def test_a_deadline_holds_inside_of_a_region() -> None:
    running, x = session(loop(2_000_000_000), deadline=0.3), np.ones((64, 64), np.float32)
    with pytest.raises(DrystoneError) as caught:
        running.run("y:0", {"x:0": x})
    assert caught.value.code == "deadline-exceeded"


@pytest.mark.usefixtures("kernels")
def test_a_kernel_that_refuses_its_inputs_says_so_and_the_plan_stays() -> None:
    graph = Graph()
    table = constant(graph, "table", np.arange(12).reshape(4, 3))
    at = graph.add("Placeholder", "at", attrs={"dtype": INT32, "shape": (2,)})
    axis = constant(graph, "axis", 0, INT32)
    found = graph.add("GatherV2", "found", [table, at, axis],
                      attrs={"Tparams": FLOAT32, "Tindices": INT32, "Taxis": INT32})  # fmt: skip
    graph.add("Exp", "y", [found], attrs=FLOATS)
    mine = session(graph)
    good, bad = np.array([0, 3], np.int32), np.array([0, 4], np.int32)
    for _ in range(2):
        np.testing.assert_allclose(
            mine.run("y:0", {"at:0": good}), np.exp([[0, 1, 2], [9, 10, 11]])
        )
        with pytest.raises(KernelError, match="node 'found'"):
            mine.run("y:0", {"at:0": bad})
    (status,) = executables(mine)
    assert (status.state, status.runs) == ("ready", 2)


@pytest.mark.usefixtures("kernels")
def test_d22_a_region_has_a_memory_plan_of_its_own() -> None:
    """Row D22. Forty layers of 64 KiB each lie in the room of a few, run after run."""
    graph, rng = Graph(), np.random.default_rng(2)
    last = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (128, 128)})
    for k in range(40):
        weight = constant(graph, f"w{k}", rng.normal(size=(128, 128)) / 16)
        last = graph.add("MatMul", f"n{k}", [last, weight], attrs=FLOATS)
    graph.add("Neg", "y", [last], attrs=FLOATS)
    mine, x = session(graph, optimizer="off"), rng.normal(size=(128, 128)).astype(np.float32)
    feeds = {"x:0": x}
    expected = session(graph, "").run("y:0", feeds)
    for _ in range(6):
        np.testing.assert_allclose(mine.run("y:0", feeds), expected, rtol=1e-4, atol=1e-6)
    (status,) = executables(mine)
    assert 2 << 16 <= status.arena <= 4 << 16
    blocks = mine.describe(["y:0"], ["x:0"])["blocks"]
    described = [i["arena"] for b in blocks for i in b["instructions"] if "arena" in i]
    assert described == [status.arena]
    held = [mine.run("y:0", feeds) for _ in range(3)]  # what goes out is in no arena
    for one in held:
        np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.usefixtures("kernels")
def test_threads_share_a_plan() -> None:
    mine, expected = session(layers(4)), session(layers(4), "").run("y:0", {"x:0": X})
    mine.run("y:0", {"x:0": X})
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(50):
            got = mine.run("y:0", {"x:0": X})
            if not np.allclose(got, expected, rtol=1e-5):
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sum(e.runs for e in executables(mine)) == 201


@pytest.mark.usefixtures("kernels")
@pytest.mark.filterwarnings("default::drystone_subgraph.SubgraphWarning")
def test_a_damaged_plan_is_compiled_again(cache: Path) -> None:
    session(layers(4)).run("y:0", {"x:0": X})
    for file in (f for f in cache.rglob("*") if f.is_file()):
        file.write_bytes(file.read_bytes()[:-20])
    again = session(layers(4))
    with pytest.warns(SubgraphWarning):
        got = again.run("y:0", {"x:0": X})
    np.testing.assert_allclose(got, session(layers(4), "").run("y:0", {"x:0": X}), rtol=1e-5)
    assert [e.loaded for e in executables(again)] == [False]
