"""``drystone convert`` by backends that keep executables: they lie beside the model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from interpreter import Compiling, Keeping

import drystone_base as ds
from drystone_base.cli._app import app
from drystone_base.tracing import operations as ops
from drystone_subgraph import PartitionConfig, executables

F32 = np.float32


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept elsewhere."""
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    weight = ds.Variable(np.array([2.0, 3.0, 4.0], F32), name="weight")
    traced = ds.function(lambda x: ops.tanh(x * weight) * x).trace(ds.Spec([None, 3]))
    ds.save(traced, tmp_path / "model")
    return tmp_path / "model"


def convert(model: Path, out: Path, *words: object) -> Any:
    return CliRunner().invoke(
        app, ["convert", str(model), "-o", str(out), *map(str, words)], prog_name="drystone"
    )


def test_a_moved_model_compiles_nothing(model: Path, tmp_path: Path) -> None:
    backend = Keeping({"Mul", "Tanh"})
    sizes = ("--size", 1, "--size", 4)
    done = convert(model, tmp_path / "out", "--backend", "fake", *sizes, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    (region,) = found["regions"]
    assert region["ops"] == {"Mul": 2, "Tanh": 1}
    assert region["library"] == "assets.extra/executables"
    assert {one["op"] for one in found["left"]} >= {"Placeholder", "ReadVariableOp"}
    assert len(backend.requests) == 2
    shutil.rmtree(model)
    moved = Path(shutil.move(tmp_path / "out", tmp_path / "elsewhere"))
    config = PartitionConfig(("fake",), artefacts=str(moved / "assets.extra/executables"))
    loaded = ds.load(moved, config=ds.SessionConfig(subgraphs=config))
    for rows in (1, 4):
        x = np.linspace(-1, 1, 3 * rows, dtype=F32).reshape(rows, 3)
        (y,) = loaded(x).values()
        np.testing.assert_allclose(y, np.tanh(x * np.array([2, 3, 4], F32)) * x, rtol=1e-6)
    assert [(one.state, one.loaded) for one in executables(loaded.session)] == [("ready", True)] * 2
    assert len(backend.requests) == 2


def test_the_table_says_how_it_is_run(model: Path, tmp_path: Path) -> None:
    Keeping({"Mul", "Tanh"})
    done = convert(model, tmp_path / "out", "--backend", "fake")
    assert done.exit_code == 0, done.output
    assert " nodes are in 1 libraries" in done.stdout
    text = " ".join(done.output.split())
    assert 'SessionConfig(subgraphs=PartitionConfig(backends=("fake",), artefacts=' in text


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--backend", "default"), "subgraph-backend-keeps-nothing", "'default' cannot convert a"),
        (("--backend", "forgets"), "subgraph-backend-keeps-nothing", "a backend that keeps none"),
        (("--backend", "fake", "--ops", "Mul"), "bad-subgraph-option", "found: --ops Mul"),
        (("--backend", "fake", "--target", "llvm"), "unknown-target", "no target 'llvm'"),
        (("--backend", "fak"), "unknown-subgraph-backend", "did you mean fake?"),
        (("--backend", "absent"), "subgraph-package-missing", "no Python package absent"),
    ],
)
def test_what_is_refused(
    model: Path, tmp_path: Path, words: tuple[str, ...], code: str, text: str
) -> None:
    Keeping({"Mul"})
    _Forgets({"Mul"}, name="forgets")
    _Absent({"Mul"}, name="absent")
    done = convert(model, tmp_path / "out", *words)
    assert done.exit_code == 2
    assert f"[{code}]" in done.output
    assert text in " ".join(done.output.split())
    assert not (tmp_path / "out").exists()


def test_a_frozen_graph_cannot_carry_code(tmp_path: Path) -> None:
    Keeping({"Mul"})
    ds.write_graph(ds.Graph(), tmp_path / "graph.pb")
    done = convert(tmp_path / "graph.pb", tmp_path / "out", "--backend", "fake")
    assert "cannot carry compiled code" in done.output


class _Forgets(Compiling):
    """It compiles, and keeps nothing."""


class _Absent(Compiling):
    keeps = True

    def properties(self) -> Any:
        """Nothing, as what it calls is not installed."""
        raise ds.BadRequest(
            "subgraph backend 'absent' cannot be used",
            check="the package that it calls must be installed",
            found="no Python package absent",
            needed="absent",
            remedy="pip install absent",
            code="subgraph-package-missing",
        )
