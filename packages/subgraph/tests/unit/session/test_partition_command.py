"""The command ``drystone partition``."""

from __future__ import annotations

import json
import re
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
    """What ``drystone partition`` says of the graph as the model has it."""
    command = ["partition", *map(str, words), "--optimizer", "off"]
    return CliRunner().invoke(app, command, prog_name="drystone")


def test_a_dry_run_tells_who_takes_what(model: Path) -> None:
    """Rows D27 and J17."""
    only("some", {"Mul"})
    done = run(model, "--backend", "some,default", "--report")
    assert done.exit_code == 0, done.output
    assert "4 of 5 nodes in 1 operators" in done.output
    assert "default_subgraph_0" in done.output
    assert "AddN is not in the backend's list of ops" in done.output


def test_the_graph_is_written(model: Path) -> None:
    out = model.parent / "out.pb"
    rest = ("--output", out, "--json")
    done = run(model, "--backend", "default", "--exclude", "n3", *rest)
    assert done.exit_code == 0, done.output
    assert [s["nodes"] for s in json.loads(done.output)["segments"]] == [["n0", "n1", "n2"]]
    assert [node.name for node in read_graph(out)] == ["x", "n3", "default_subgraph_0"]


def test_a_backend_must_be_named(model: Path) -> None:
    done = run(model)
    assert done.exit_code == 2
    assert "no backend is named" in done.output
    assert "there is no subgraph backend 'tpu'" in run(model, "--backend", "tpu").output


@pytest.mark.parametrize("word", ["none", "OFF"])
def test_none_is_no_backend(model: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = run(model, "--backend", word)
    monkeypatch.setenv("DRYSTONE_SUBGRAPH_BACKEND", word)
    for done, found in ((asked, f"--backend {word!r}"), (run(model), f"BACKEND={word}")):
        assert done.exit_code == 2
        assert "none and off are the names of no backend" in done.output
        assert found in done.output


def test_nodes_that_are_not_there_are_a_wrong_request(model: Path) -> None:
    for option, code in (("--fetch", "fetch"), ("--feed", "feed")):
        done = run(model, "--backend", "default", option, "nope:0", "--json")
        assert done.exit_code == 2
        assert json.loads(done.stdout)["error"]["code"] == f"unknown-{code}"
    done = run(model, "--backend", "default", "--node", "nope", "--fetch", "n3")
    assert done.exit_code == 2
    assert "there is no node 'nope' [unknown-node]" in done.output
    done = run(model, "--backend", "default", "--node", "n3", "--fetch", "n1")
    assert "no fetch needs it" in done.output


def test_only_graphs_are_written(model: Path) -> None:
    out = model.parent / "out.txt"
    done = run(model, "--backend", "default", "--output", out)
    assert done.exit_code == 2
    assert "'out.txt' does not end in .pb or .pbtxt" in done.output
    assert not out.exists()
    assert run(model, "--backend", "default", "--output", out.with_suffix(".pbtxt")).exit_code == 0


def rows(output: str) -> list[list[str]]:
    """The lines of tables, without the space between columns."""
    return [re.split(r"\s{2,}", line.strip()) for line in output.splitlines()]


def test_a_node_is_answered_for(model: Path) -> None:
    only("small", {"AddN"}, minimum_size=9)
    only("first", {"AddN"})
    chosen = "small,first,default"
    done = run(model, "--backend", chosen, "--exclude", "n1", "--node", "n[01]", "--node", "n2")
    assert done.exit_code == 0, done.output
    where, excluded = "the graph", "it is excluded by 'n1'"
    assert [row for row in rows(done.output) if where in row] == [
        ["n0", where, "first", "yes", "in first_subgraph_0"],
        ["n0", where, "small", "no", "its region: 1 nodes, fewer than 9"],
        ["n0", where, "default", "no", "'first' took it"],
        *(["n1", where, name, "no", excluded] for name in ("small", "first", "default")),
        ["n2", where, "first", "yes", "in first_subgraph_1"],
        ["n2", where, "small", "no", "its region: 2 nodes, fewer than 9"],
        ["n2", where, "default", "no", "'first' took it"],
    ]
    done = run(model, "--backend", chosen, "--node", "n0", "--json")
    assert json.loads(done.output)["why"] == [
        {"where": "", "node": "n0", "taken_by": "first",
         "reasons": {"small": "its region: 4 nodes, fewer than 9", "default": "'first' took it"}},
    ]  # fmt: skip


def test_json_answers_for_every_node(model: Path) -> None:
    only("some", {"AddN"}, minimum_size=2)
    done = run(model, "--backend", "some", "--exclude", "n1", "--json")
    answers = json.loads(done.output)["why"]
    assert {row["node"]: (row["taken_by"], row["reasons"]) for row in answers} == {
        "x": ("", {"some": "it is where values come in or go out"}),
        "n0": ("", {"some": "its region: 1 nodes, fewer than 2"}),
        "n1": ("", {"some": "it is excluded by 'n1'"}),
        "n2": ("some", {}),
        "n3": ("some", {}),
    }  # fmt: skip


def test_regions_that_are_left_for_one_reason_share_a_row(tmp_path: Path) -> None:
    path = tmp_path / "model.pb"
    write_graph(chain(9), path)
    only("b", {"AddN"}, minimum_size=2)
    words = [word for k in range(1, 9, 2) for word in ("--exclude", f"n{k}")]
    done = run(path, "--backend", "b", *words, "--report")
    assert "1 nodes, fewer than 2" in done.output
    few = [row for row in rows(done.output) if "1 nodes, fewer than 2" in row]
    assert few == [
        ["b", "ops", "the graph", "too small", "5", "5", "1 nodes, fewer than 2", "n0, n2, n4, ..."]
    ]
    assert ["b", "5", "its region: 1 nodes, fewer than 2", "n0, n2, n4, ..."] in rows(done.output)
