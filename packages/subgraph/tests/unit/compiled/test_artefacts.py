"""Executables that outlive a process: the cache, artefacts, and why they are refused."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from interpreter import Compiling, Keeping
from partitions import chain

import drystone_base as ds
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.loaders import write_graph
from drystone_base.ops.attrs import TensorAttr
from drystone_subgraph import (
    CompileRequest,
    Executable,
    PartitionConfig,
    SubgraphWarning,
    executables,
)

ANY = {"AddV2", "Mul", "AddN"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache."""
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def ran(graph: Graph | None = None, size: int = 2, **config: Any) -> bool:
    """Run a chain in a new session; whether its executable was loaded."""
    graph = graph or chain(3)
    graph.set_attr(graph["x"], "shape", None)
    settings = PartitionConfig(("fake",), **config)
    session = ds.Session(graph, ds.SessionConfig(subgraphs=settings, optimizer="off"))
    x = np.arange(size, dtype=np.float32)
    np.testing.assert_array_equal(session.run("n2:0", {"x:0": x}), x)
    (found,) = executables(session)
    assert found.state == "ready", found.reason
    return found.loaded


def test_a_hit_and_misses(folder: Path) -> None:
    """Row J16."""
    backend = Keeping({"AddN"})
    assert [ran(), ran(), ran()] == [False, True, True]
    assert len(backend.requests) == 1
    assert [ran(size=3), ran(size=3), ran(threads=2)] == [False, True, False]
    assert len(list(folder.iterdir())) == 3


def test_another_version_is_a_miss() -> None:
    """Row J16."""
    backend = Keeping({"AddN"})
    assert [ran(), ran()] == [False, True]
    backend.version = "2"
    assert [ran(), ran()] == [False, True]
    backend.version = "1"
    assert ran()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:-1]), "is damaged"),
        (lambda file: file.write_bytes(b"not ours"), "is no file of an executable"),
    ],
)
def test_a_corrupt_entry_is_ignored(folder: Path, change: Callable[[Path], int], text: str) -> None:
    """Row J16."""
    Keeping({"AddN"})
    ran()
    (file,) = folder.iterdir()
    change(file)
    with pytest.warns(SubgraphWarning, match=text):
        assert not ran()
    assert ran()


def test_an_entry_that_the_backend_refuses_is_ignored(folder: Path) -> None:
    from drystone_base.files.store import Store

    Keeping({"AddN"})
    ran()
    (file,) = folder.iterdir()
    Store(folder).write(file.stem, {}, [b"other bytes"])
    with pytest.warns(SubgraphWarning, match="cannot load it: ValueError: foreign bytes"):
        assert not ran()
    assert ran()


def test_a_folder_that_cannot_be_written_costs_a_warning(folder: Path) -> None:
    Keeping({"AddN"})
    folder.write_text("a file", encoding="utf-8")
    with pytest.warns(SubgraphWarning, match="is not kept: "):
        assert not ran()


def test_the_cache_can_be_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", "off")
    Keeping({"AddN"})
    assert [ran(), ran()] == [False, False]
    assert not folder.exists()


def ran_model(model: Path, size: int = 2, **config: Any) -> bool:
    """The same of a model in a file, optimized as ever."""
    settings = ds.SessionConfig(subgraphs=PartitionConfig(("fake",), **config))
    loaded = ds.load(model, config=settings)
    x = np.arange(size, dtype=np.float32)
    np.testing.assert_array_equal(loaded.session.run("n2:0", {"x:0": x}), x + x)
    (found,) = executables(loaded.session)
    return found.loaded


def compiled(*words: object) -> Any:
    """What ``drystone partition --backend fake --compile`` prints."""
    command = ["partition", "--backend", "fake", "--compile", "--json", *map(str, words)]
    done = CliRunner().invoke(app, command, prog_name="drystone")
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    graph, types = Graph(), {"T": FLOAT32}
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1,)})
    graph.add("AddV2", "n2", [x, x], attrs=types)
    write_graph(graph, tmp_path / "model.pb")
    return tmp_path / "model.pb"


def test_artefacts_are_made_ahead_of_time(model: Path, tmp_path: Path, folder: Path) -> None:
    """Rows D18, D19 and J16."""
    backend, out = Keeping(ANY), tmp_path / "out"
    printed = compiled(model, "--output", out, "--size", 2)
    assert [(e["shapes"], e["state"]) for e in printed["executables"]] == [([[2]], "ready")]
    assert len(backend.requests) == 1
    assert ran_model(model, artefacts=str(out))
    assert not folder.exists(), "what is made ahead does not go to the cache"
    with pytest.warns(SubgraphWarning, match="no artefact in"):
        assert not ran_model(model, artefacts=str(out), size=3)
    assert len(backend.requests) == 2
    (file,) = out.iterdir()
    header = json.loads(file.read_bytes()[30:].partition(b"}")[0] + b"}")
    assert {k: header[k] for k in ("backend", "backend_version", "shapes")} == {
        "backend": "fake", "backend_version": "1", "shapes": [[2]],
    }  # fmt: skip
    assert header["made_by"].startswith("drystone-base ")


def test_an_artefact_of_another_version_is_refused(model: Path, tmp_path: Path) -> None:
    """Row J16."""
    backend, out = Keeping(ANY), tmp_path / "out"
    compiled(model, "--output", out, "--size", 2)
    backend.version = "2"
    text = "backend version is '1', needed is '2'; compile it again with `drystone partition"
    with pytest.warns(SubgraphWarning, match=text):
        assert not ran_model(model, artefacts=str(out))
    with pytest.warns(SubgraphWarning, match=r"no artefact in .* for \[\[5\]\]"):
        assert not ran_model(model, artefacts=str(out), size=5)


def test_an_artefact_of_another_machine_is_refused(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drystone_subgraph.compiled import artefacts

    Keeping(ANY)
    compiled(model, "--output", tmp_path / "out", "--size", 2)
    monkeypatch.setattr(artefacts, "_machine", lambda: "toaster")
    with pytest.warns(SubgraphWarning, match="machine is .*, needed is 'toaster'"):
        assert not ran_model(model, artefacts=str(tmp_path / "out"))


def test_compiling_needs_shapes_and_a_folder(model: Path, tmp_path: Path) -> None:
    Keeping({"AddN"})
    unknown = chain(3)
    unknown.set_attr(unknown["x"], "shape", None)
    write_graph(unknown, model)
    words = ["partition", str(model), "--backend", "fake", "--compile"]
    done = CliRunner().invoke(app, words, prog_name="drystone")
    assert done.exit_code == 2
    assert "--compile needs --output" in done.output
    done = CliRunner().invoke(app, [*words, "--output", str(tmp_path / "o")], prog_name="drystone")
    assert done.exit_code != 0
    assert "feed 'x:0' has no shape to compile for" in done.output


def _nothing(request: CompileRequest) -> Executable:
    raise ValueError(f"no room for {request.name}")


@pytest.mark.parametrize("case", ["fails", "is a file", "keeps nothing", "compiles nothing"])
def test_what_is_not_written_is_no_success(model: Path, tmp_path: Path, case: str) -> None:
    out = tmp_path / "out"
    if case == "is a file":
        out.write_text("a file", encoding="utf-8")
    kind = Compiling if case == "keeps nothing" else Keeping
    kind(ANY, _nothing) if case == "fails" else kind(ANY)
    backend = "default" if case == "compiles nothing" else "fake"
    words = ["partition", str(model), "--backend", backend, "--compile", "--output", str(out)]
    done = CliRunner().invoke(app, words, prog_name="drystone")
    assert done.exit_code == 1, done.output
    assert "written to" not in done.output
    assert case != "fails" or "no room for" in done.output
    done = CliRunner().invoke(app, [*words, "--json"], prog_name="drystone")
    assert done.exit_code == 1
    printed = json.loads(done.stdout)
    assert printed["output"] is None
    assert not any(e["kept"] for e in printed["executables"])


def test_other_constants_are_another_region() -> None:
    backend = Keeping({"AddV2"})
    for value in (1, 2, 1):
        graph, types = Graph(), {"T": FLOAT32}
        x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
        array = TensorAttr(array=np.full(2, value, np.float32))
        k = graph.add("Const", "k", attrs={"dtype": FLOAT32, "value": array})
        graph.add("AddV2", "y", [x, k], attrs=types)
        config = ds.SessionConfig(subgraphs="fake", optimizer="off")
        found = ds.Session(graph, config).run("y:0", {"x:0": np.ones(2, np.float32)})
        np.testing.assert_array_equal(found, np.full(2, 1 + value))
    assert len(backend.requests) == 2


def test_artefacts_that_fit_nothing_are_told_about_once(tmp_path: Path) -> None:
    Keeping({"AddN"})
    there = str(tmp_path / "there")
    with pytest.warns(SubgraphWarning) as told:
        assert not ran(artefacts=there)
    assert len(told) == 1
    text = str(told[0].message)
    assert f"no artefact in {there} fits" in text
    assert "looked for 'fake_subgraph_0' of 'fake' for [[2]], threads=0;" in text
    assert "found no such folder;" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not ran(artefacts=there, size=3)


def test_artefacts_of_other_shapes_are_named(tmp_path: Path) -> None:
    Keeping({"AddN"})
    there = str(tmp_path / "there")
    for size in (1, 2, 3, 4):
        ran(size=size, artefacts=there, writes_artefacts=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ran(size=4, artefacts=there)
    with pytest.warns(SubgraphWarning, match=r"for \[\[5\]\], .* found 4 executables") as told:
        assert not ran(size=5, artefacts=there)
    assert len(told) == 1
    found = str(told[0].message).partition("; found ")[2]
    assert found.count("'fake_subgraph_0' of 'fake' for [[") == 3
    assert ", ...);" in found
