"""Large constants of a file: read where a plan needs them, whatever becomes of the file."""

from __future__ import annotations

import gc
import os
import resource
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, DType, as_dtype
from drystone_base.core.errors import BadModelFile
from drystone_base.files.local import map_file
from drystone_base.files.mapped import place_of
from drystone_base.graph import Graph
from drystone_base.host.live import live_objects
from drystone_base.loaders.graphdef import read_graph, write_graph
from drystone_base.ops.attrs import TensorAttr

ROWS, COLUMNS = 160, 130  # float32: more than is worth leaving in the file


def numbers(seed: int, dtype: DType = FLOAT32) -> Any:
    values = np.random.default_rng(seed).integers(0, 100, (ROWS, COLUMNS))
    return values.astype(dtype.np)


def model(file: Path, values: Any) -> None:
    """A file whose y is x + w."""
    graph = Graph()
    dtype = as_dtype(values.dtype)
    x = graph.add("Placeholder", "x", attrs={"dtype": dtype, "shape": None})
    attr = TensorAttr(array=values)
    w = graph.add("Const", "w", attrs={"dtype": dtype, "value": attr})
    graph.add("AddV2", "y", [x, w], attrs={"T": dtype})
    write_graph(graph, file)


def opened(file: Path) -> Session:
    return Session(read_graph(file), SessionConfig(executor="native", optimizer="off"))


def ran(session: Session) -> Session:
    session.run("y:0", one())
    return session


def one(dtype: DType = FLOAT32) -> dict[str, Any]:
    return {"x:0": np.ones((), dtype.np)}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool", "complex64", "bfloat16"])
def test_a_plan_has_what_the_file_holds(tmp_path: Path, dtype: str) -> None:
    kind = as_dtype(dtype)
    wanted = np.concatenate([numbers(1, kind)] * 4)
    file = tmp_path / "model.pb"
    model(file, wanted)
    found = opened(file).run("w:0")
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    assert found.ctypes.data % 64 == 0  # wherever it begins in the file


@pytest.mark.parametrize("optimizer", ["off", "default"])
def test_plans_share_it(tmp_path: Path, optimizer: Any) -> None:
    file = tmp_path / "model.pb"
    model(file, numbers(1))
    graph = read_graph(file)
    config = SessionConfig(executor="native", optimizer=optimizer)
    first, second = Session(graph, config), Session(graph, config)
    a, b = first.run("w:0"), second.run("w:0")
    assert np.shares_memory(a, b)
    np.testing.assert_array_equal(first.run("y:0", one()), numbers(1) + 1)
    np.testing.assert_array_equal(second.run("y:0", one()), numbers(1) + 1)


def test_plans_made_at_once_share_a_constant_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "model.pb"
    model(file, numbers(1))
    config = SessionConfig(executor="native", optimizer="off")
    for _ in range(10):
        graph, begin, found = read_graph(file), threading.Barrier(8), list[Any]()

        def work(graph: Graph = graph, begin: Any = begin, found: list[Any] = found) -> None:
            session = Session(graph, config)
            begin.wait(60)
            found.append((session.run("y:0", one()), session.run("w:0")))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        for y, w in found:
            np.testing.assert_array_equal(y, numbers(1) + 1)
            np.testing.assert_array_equal(w, numbers(1))


def test_a_file_that_is_gone_is_still_read(tmp_path: Path) -> None:
    file = tmp_path / "model.pb"
    model(file, numbers(1))
    session = opened(file)
    file.unlink()
    np.testing.assert_array_equal(session.run("y:0", one()), numbers(1) + 1)


def test_another_file_in_its_place_changes_nothing(tmp_path: Path) -> None:
    file, other = tmp_path / "model.pb", tmp_path / "other.pb"
    model(file, numbers(1))
    model(other, numbers(2))
    session = opened(file)
    other.replace(file)
    np.testing.assert_array_equal(session.run("y:0", one()), numbers(1) + 1)
    np.testing.assert_array_equal(opened(file).run("y:0", one()), numbers(2) + 1)


def test_a_file_that_was_cut_off_is_a_failure_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "model.pb"
    model(file, numbers(1))
    session, whole = opened(file), file.read_bytes()
    os.truncate(file, 1000)
    with pytest.raises(BadModelFile) as raised:
        session.run("y:0", one())
    assert raised.value.code == "file-changed"
    file.write_bytes(whole)  # in the old place
    np.testing.assert_array_equal(session.run("y:0", one()), numbers(1) + 1)


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize("size", [1000, 100_000, None])
def test_no_plan_is_made_of_a_file_that_holds_another_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int | None, executor: Any
) -> None:
    monkeypatch.setenv("DRYSTONE_PLAN_CACHE", str(tmp_path / "plans"))
    file, other = tmp_path / "model.pb", tmp_path / "other.pb"
    model(file, numbers(1))
    model(other, numbers(2))
    loaded = ds.load(file, config=SessionConfig(executor=executor))
    np.testing.assert_array_equal(loaded.run("y:0", one()), numbers(1) + 1)
    whole = file.read_bytes()
    file.write_bytes((other.read_bytes() * 2)[: size or len(whole)])
    with pytest.raises(BadModelFile, match="changed while the model is in use") as raised:
        loaded.run("w:0")
    assert raised.value.code == "file-changed"
    assert raised.value.remedy.startswith("write a new model under another name")
    file.write_bytes(whole)  # another time, the same bytes
    np.testing.assert_array_equal(loaded.run("w:0"), numbers(1))


def test_what_is_held_goes_with_the_last_who_needs_it(tmp_path: Path) -> None:
    file = tmp_path / "model.pb"
    model(file, numbers(1))
    opened(file).run("y:0", one())
    gc.collect()
    before, files = live_objects()["memory_blocks"], len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        opened(file).run("y:0", one())
        gc.collect()
    opened(file)  # what others gave back is taken here
    gc.collect()
    assert live_objects()["memory_blocks"] <= before + 2
    assert len(os.listdir("/proc/self/fd")) <= files + 2


def test_files_are_closed_as_soon_as_models_are_gone(tmp_path: Path) -> None:
    """A program that reaches its limit of open files drops models to load others."""
    file = tmp_path / "model.pb"
    model(file, numbers(1))
    opened(file).run("y:0", one())
    opened(file)  # what others gave back is taken here
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    held = [opened(file) for _ in range(4)]
    for session in held:
        session.run("y:0", one())
    assert len(os.listdir("/proc/self/fd")) > before
    del session
    held.clear()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_keeps_no_more_descriptors_open_than_it_must(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(b"numbers")
    before = len(os.listdir("/proc/self/fd"))
    held = map_file(file)
    own = 1 if sys.version_info >= (3, 13) else 2  # Python's mapping keeps one
    assert len(os.listdir("/proc/self/fd")) == before + own
    del held
    assert len(os.listdir("/proc/self/fd")) == before


def test_too_many_open_files_are_a_failure_that_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "model.pb"
    model(file, numbers(1))
    held: list[Session] = []
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_now = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_now + 20, limits[1]))
    try:
        with pytest.raises(BadModelFile) as raised:
            held.extend(ran(opened(file)) for _ in range(100))
        assert len(held) >= 5
        assert raised.value.code == "file-unreadable"
        assert "ulimit -n" in str(raised.value)
        del raised
        held.clear()
        gc.collect()
        np.testing.assert_array_equal(opened(file).run("y:0", one()), numbers(1) + 1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_it_is_saved_as_it_was(tmp_path: Path) -> None:
    file, again = tmp_path / "model.pb", tmp_path / "again.pb"
    model(file, numbers(1))
    graph = read_graph(file)
    session = Session(graph, SessionConfig(executor="native", optimizer="off"))
    session.run("y:0", one())
    write_graph(graph, again)
    assert again.read_bytes() == file.read_bytes()


def test_where_an_array_lies(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(b"ab" + np.arange(100, dtype=np.float32).tobytes())
    array = np.frombuffer(map_file(file), np.float32, 100, 2)
    place = place_of(array[10:])
    assert place is not None
    assert place.offset == 42
    assert os.pread(place.file.descriptor, 4, place.offset) == np.float32(10).tobytes()
    assert place.factors is None
    assert place_of(array[::2]) is None
    assert place_of(array.copy()) is None


def test_the_reference_executor_reads_it_too(tmp_path: Path) -> None:
    file = tmp_path / "model.pb"
    model(file, numbers(1))
    session = ds.Session(read_graph(file), SessionConfig(executor="reference", optimizer="off"))
    np.testing.assert_array_equal(session.run("y:0", one()), numbers(1) + 1)
