"""The command ``drystone optimize``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pass_checks import Maker

from drystone_base.cli._app import app
from drystone_base.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.loaders import read_graph, write_graph


@pytest.fixture
def model(tmp_path: Path) -> Path:
    m = Maker()
    m.op("Mul", "i", m.x(), m.const("c", 1.0), T=FLOAT32)
    m.op("Neg", "n", "i", T=FLOAT32)
    m.op("Neg", "y", "n", T=FLOAT32)
    m.op("Square", "z", "x", T=FLOAT32)
    path = tmp_path / "model.pb"
    write_graph(m.graph, path)
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["optimize", *map(str, words)], prog_name="drystone")


def written(model: Path, *words: object) -> Graph:
    out = model.parent / "out.pb"
    done = run(model, out, *words)
    assert done.exit_code == 0, done.output
    return read_graph(out)


def test_signature_of_the_file_is_kept(model: Path) -> None:
    assert [n.name for n in written(model)] == ["x", "y", "z"]


def test_tensors_that_are_named(model: Path) -> None:
    assert [n.name for n in written(model, "--fetch", "z:0", "--feed", "x:0")] == ["x", "z"]


def test_passes_that_are_named(model: Path) -> None:
    made = written(model, "--passes", "model_pruning,constant_folding", "--fetch", "y:0")
    assert [n.name for n in made] == ["x", "n", "y"]


def test_report(model: Path) -> None:
    done = run(model, model.parent / "o.pbtxt", "--report")
    assert "constant_folding" in done.output
    assert "neutral element (1)" in done.output
    assert "3 nodes, of 6, in" in done.output


def test_json(model: Path) -> None:
    found = json.loads(run(model, model.parent / "o.pb", "--json").stdout)
    assert found["nodes"] == {"before": 6, "after": 3}
    assert {s["name"] for s in found["steps"]} >= {"model_pruning", "remapping"}


@pytest.mark.parametrize(("words", "text"), [
    (["--passes", "constant_foldin"], "did you mean constant_folding"),
    (["--passes", "common_subgraph_elimination"], "add arithmetic_optimization"),
    (["--signature", "nope"], "no signature 'nope'"),
])  # fmt: skip
def test_what_is_asked_wrongly(model: Path, words: list[str], text: str) -> None:
    done = run(model, model.parent / "o.pb", *words)
    assert done.exit_code == 2
    assert text in done.output
