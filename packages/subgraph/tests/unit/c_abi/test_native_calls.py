"""Executables of plugins, which the native executor calls without Python."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import drystone_base as ds
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph
from drystone_base.loaders import write_graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.plugins import load_library
from drystone_subgraph import PartitionConfig, SubgraphWarning, executables
from drystone_subgraph.compiled.compiled import CompiledOperator

pytestmark = pytest.mark.cases_in_gate(3)

SOURCE = Path(__file__).parents[2] / "plugins" / "packing.c"
Compile = Callable[..., Path]


@pytest.fixture(scope="session", params=["packing", "fixed"])
def path(request: Any, compile_library: Compile) -> tuple[str, Path]:
    """A backend that packs new weights, and one that is compiled again for them."""
    flags = [f'-DNAME="{request.param}"', f"-DUPDATES={int(request.param == 'packing')}"]
    return request.param, compile_library(SOURCE, flags=flags)


@pytest.fixture
def backend(path: tuple[str, Path]) -> str:
    from drystone_subgraph.c_abi import c_backend
    from drystone_subgraph.contract import backend

    name, file = path
    plugin = load_library(str(file), policy="allow_unverified")
    if name not in backend.backends():  # taken out after another test
        c_backend.initialise(plugin.library, "DS_InitSubgraph")
    return name


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by each call that comes to Python."""
    found: list[int] = []
    run = CompiledOperator.run

    def counted(self: CompiledOperator, *args: Any) -> Any:
        found.append(1)
        return run(self, *args)

    monkeypatch.setattr(CompiledOperator, "run", counted)
    return found


def weighted(backend: str, executor: Any = "native", **config: Any) -> ds.Session:
    """``y = x + v``; ``init`` and ``add`` change ``v``, ``late`` reads it after ``add``."""
    graph, types = Graph(), {"T": FLOAT32}
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1,)})
    graph.set_attr(x, "shape", None)
    handle = graph.add("VarHandleOp", "v",
                       attrs={"dtype": FLOAT32, "shape": None, "shared_name": "v"})  # fmt: skip
    graph.add("AssignVariableOp", "init", [handle, x], attrs={"dtype": FLOAT32})
    add = graph.add("AssignAddVariableOp", "add", [handle, x], attrs={"dtype": FLOAT32})
    read = graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32})
    graph.add("AddV2", "y", [x, read], attrs=types)
    again = graph.add("ReadVariableOp", "again", [handle], attrs={"dtype": FLOAT32}, controls=[add])
    graph.add("AddV2", "late", [x, again], attrs=types)
    settings = PartitionConfig((backend,), **config)
    return ds.Session(
        graph, ds.SessionConfig(subgraphs=settings, optimizer="off", executor=executor)
    )


def test_calls_do_without_python(backend: str, calls: list[int]) -> None:
    session, x = weighted(backend), np.ones(3, np.float32)
    session.run("init", {"x:0": x})
    for _ in range(20):
        np.testing.assert_array_equal(session.run("y:0", {"x:0": x}), x + 1)
    assert len(calls) == 1
    (found,) = executables(session)
    assert (found.state, found.runs, found.fallbacks, found.packs) == ("ready", 20, 0, 1)


def test_a_plan_is_described_while_an_executable_runs(backend: str, path: Any) -> None:
    library = ctypes.PyDLL(str(path[1]))  # whose calls give no other thread a turn
    session, x = weighted(backend), np.full(3, 1e6, np.float32)
    session.run("init", {"x:0": x - x})
    session.run("y:0", {"x:0": x - x})  # compiled
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(session.run, "y:0", {"x:0": x})
        while not library.waits() and not running.done():
            time.sleep(0.001)
        described = session.describe(["y:0"], ["x:0"])
        library.go_on()
        np.testing.assert_array_equal(running.result(), x)
    arenas = [i["arena"] for b in described["blocks"] for i in b["instructions"] if "arena" in i]
    assert arenas == [0]
    assert executables(session)[0].fallbacks == 0


def test_explain_shows_a_model_that_runs_once(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arenas are known after several runs, of which a later one may fail."""
    graph, dtype = Graph(), {"dtype": FLOAT32}
    small = graph.add(
        "Const", "small", attrs=dtype | {"value": TensorAttr(array=np.ones(4, np.float32))}
    )
    x = graph.add("Placeholder", "x", attrs=dtype | {"shape": (4,)})
    seeds = {"T": INT32, "seed": 1, "seed2": 2}
    nothing = TensorAttr(array=np.zeros(0, np.int32))
    size = graph.add("Const", "size", attrs={"dtype": INT32, "value": nothing})
    drawn = graph.add("RandomUniform", "drawn", [size], attrs=dtype | seeds)
    session = ds.Session(graph, ds.SessionConfig(optimizer="off"))
    first, *later = (float(session.run("drawn:0")) for _ in range(5))
    assert first != later[0]
    value = TensorAttr(array=np.float32(first).reshape(()))
    wanted = graph.add("Const", "wanted", attrs=dtype | {"value": value})
    same = graph.add("Equal", "same", [drawn, wanted], attrs={"T": FLOAT32})
    check = graph.add("Assert", "check", [same, drawn], attrs={"T": [FLOAT32], "summarize": 1})
    total = graph.add("AddV2", "total", [x, small], attrs={"T": FLOAT32})
    graph.add("Identity", "y", [total], attrs={"T": FLOAT32}, controls=[check])
    write_graph(graph, tmp_path / "model.pb")
    monkeypatch.setenv("DRYSTONE_SUBGRAPH_BACKEND", backend)
    words = ["explain", str(tmp_path / "model.pb"), "--fetch", "y:0", "--nodes", "--json"]
    done = CliRunner().invoke(app, words, prog_name="drystone")
    assert done.exit_code == 0, done.output
    assert '"arena"' in done.output


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_weights_are_packed_once_for_each_assignment(backend: str, executor: str) -> None:
    """Row D21. S1-weights."""
    session, x = weighted(backend, executor), np.ones(3, np.float32)
    session.run("init", {"x:0": x})
    packs, expected = [], 2
    for change in (False, True, False, False, True, True):
        if change:
            session.run("add", {"x:0": x})
            expected += 1
        np.testing.assert_array_equal(session.run("y:0", {"x:0": x}), np.full(3, expected))
        packs.append(executables(session)[0].packs)
    assert packs == [1, 2, 2, 2, 3, 4]
    assert executables(session)[0].fallbacks == 0


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_a_change_in_the_same_run_is_seen(backend: str, executor: str) -> None:
    session, x = weighted(backend, executor), np.ones(3, np.float32)
    session.run("init", {"x:0": x})
    for expected in (3, 4, 5):
        found = session.run("late:0", {"x:0": x})
        np.testing.assert_array_equal(found, np.full(3, expected, np.float32))


def test_an_executable_that_fails_is_left(backend: str) -> None:
    session, x = weighted(backend), np.ones(3, np.float32)
    session.run("init", {"x:0": x})
    session.run("y:0", {"x:0": x})
    with pytest.warns(SubgraphWarning, match="x is below zero"):
        np.testing.assert_array_equal(session.run("y:0", {"x:0": -x}), [0, 0, 0])
    np.testing.assert_array_equal(session.run("y:0", {"x:0": -x}), [0, 0, 0])
    (found,) = executables(session)
    assert (found.state, found.runs, found.fallbacks) == ("failed", 1, 2)


def test_executables_are_destroyed(backend: str, path: tuple[str, Path]) -> None:
    live = ctypes.CDLL(str(path[1])).live
    before = live()
    session = weighted(backend, specialisations=2)
    for size in (1, 2, 1, 3):
        session.run("init", {"x:0": np.ones(size, np.float32)})
        session.run("y:0", {"x:0": np.ones(size, np.float32)})
    assert [e.shapes[0] for e in executables(session)] == [(1,), (3,)]
    assert live() == before + 2
    session.close()
    assert live() == before


def test_many_threads_and_a_variable_that_changes(backend: str) -> None:
    session = weighted(backend, specialisations=1)
    x = np.ones(2, np.float32)
    session.run("init", {"x:0": x})
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for _ in range(30):
            try:
                if seed == 0:
                    session.run("add", {"x:0": x})
                else:
                    found = session.run("y:0", {"x:0": x})
                    if not (2 <= found.min() == found.max() <= 32):
                        wrong.append(found)
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
