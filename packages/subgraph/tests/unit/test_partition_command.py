"""The command ``drystone partition``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from partitions import chain, only

from drystone_base.cli._app import app
from drystone_base.loaders import read_graph, write_graph


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.pb"
    write_graph(chain(4), path)
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["partition", *map(str, words)], prog_name="drystone")


def test_a_dry_run_tells_who_takes_what(model: Path) -> None:
    """Rows D27 and J17."""
    only("some", {"Mul"})
    done = run(model, "--backend", "some,default", "--report", "--optimizer", "off")
    assert done.exit_code == 0, done.output
    assert "4 of 5 nodes in 1 operators" in done.output
    assert "default_subgraph_0" in done.output
    assert "AddN is not in the backend's list of ops" in done.output


def test_the_graph_is_written(model: Path) -> None:
    out = model.parent / "out.pb"
    rest = ("--optimizer", "off", "--output", out, "--json")
    done = run(model, "--backend", "default", "--exclude", "n3", *rest)
    assert done.exit_code == 0, done.output
    assert [s["nodes"] for s in json.loads(done.output)["segments"]] == [["n0", "n1", "n2"]]
    assert [node.name for node in read_graph(out)] == ["x", "n3", "default_subgraph_0"]


def test_a_backend_must_be_named(model: Path) -> None:
    done = run(model)
    assert done.exit_code == 2
    assert "no backend is named" in done.output
    assert "there is no subgraph backend 'tpu'" in run(model, "--backend", "tpu").output
