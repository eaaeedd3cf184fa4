"""The matrix of Intel's plugin: a process that dies costs the model that it died of, no other."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ci.scripts.tf_plugins import __main__ as tf_plugins
from ci.scripts.tf_plugins import matrix
from ci.scripts.tf_plugins.matrix import CONFIGURATIONS, Configuration, Row, models_of, table

DIES = """
import json, os, signal, sys
for name in sys.argv[1:]:
    print("begin", name, sep="\\t", flush=True)
    if name == "bad":
        print("last words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    print("end", json.dumps({"model": name, "outcome": "ok", "fused": 2}), sep="\\t", flush=True)
sys.exit(int("late" in sys.argv))
"""
ONE = Configuration("on", "cpu first", 1)


def run(names: list[str], monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """The rows of a process that dies of the model ``bad``."""
    monkeypatch.setattr(matrix, "_command", lambda *a: [sys.executable, "-c", DIES, *a[-1]])
    return list(matrix._run(ONE, Path(), Path(), names))


def test_every_configuration_is_there_once() -> None:
    assert len(set(CONFIGURATIONS)) == len(CONFIGURATIONS) == 24


def test_the_next_model_runs_after_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = run(["a", "bad", "b"], monkeypatch)
    assert [(row.model, row.outcome) for row in rows] == [
        ("a", "ok"),
        ("bad", "crash"),
        ("b", "ok"),
    ]
    assert rows[1].why == "it died by SIGSEGV; last words"


def test_a_bad_end_of_the_process_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = run(["a", "late"], monkeypatch)
    assert [row.outcome for row in rows] == ["ok", "ok", "crash"]
    assert (rows[2].model, rows[2].holds) == ("the process's end", False)


def test_what_the_log_has_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A crash is in it too; the models that another process left out run."""
    asked: list[list[str]] = []

    def command(*given: Any) -> list[str]:
        asked.append(list(given[-1]))
        return [sys.executable, "-c", DIES, *given[-1]]

    monkeypatch.setattr(matrix, "_command", command)
    models = [{"name": name, "format": "graphdef"} for name in ("a", "bad", "b", "c")]
    (tmp_path / "index.json").write_text(json.dumps({"models": models}), "utf-8")
    words = ["--models", str(tmp_path), "--log", str(tmp_path / "log"), str(tmp_path)]
    words += ["--optimizer", "on", "--order", "no cpu", "--threads", "1"]
    assert matrix.main([*words, "--model", "a", "--model", "bad"]) == 1
    assert matrix.main(words) == 1
    assert asked == [["a", "bad"], ["b", "c"]]
    assert matrix.main(words) == 1
    assert len(asked) == 2
    assert "3 of 4 hold" in capsys.readouterr().out


def test_the_table_shows_what_does_not_hold() -> None:
    rows = [
        Row("a", "ok", fused=3),
        Row("b", "crash", why="it died"),
        Row("musicnn-mtt-vgg", "known"),
    ]
    lines = table({ONE: rows}).splitlines()
    assert lines[1].split() == ["on", "cpu", "first", "1", "1", "1", "1", "3"]
    assert "optimizer on, cpu first, 1 thread(s): b: crash: it died" in lines
    assert lines[-1].startswith("known: musicnn-mtt-vgg: in training")


def test_models_that_drystone_cannot_load_are_left_out(tmp_path: Path) -> None:
    rows = [{"name": "a", "format": "graphdef"}, {"name": "b", "format": "onnx"}]
    (tmp_path / "index.json").write_text(json.dumps({"models": rows}), "utf-8")
    assert [row["name"] for row in models_of(tmp_path)] == ["a"]
    assert models_of(tmp_path, ["b"]) == []


FULL = ["--optimizer", "on", "--order", "no cpu", "--threads", "1"]


def test_what_cannot_be_had_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever asks for the matrix is not told that it holds where nothing ran."""
    words = ["--models", str(tmp_path)]
    assert matrix.main(words) == 1
    assert "failed: there are no recorded models in" in capsys.readouterr().out
    (tmp_path / "index.json").write_text(json.dumps({"models": []}), "utf-8")
    monkeypatch.setattr(matrix, "_installed", lambda: False)
    assert matrix.main([*words, "--order", "installed"]) == 1
    assert "is not installed" in capsys.readouterr().out
    monkeypatch.setattr(tf_plugins, "_pip", lambda: None)
    monkeypatch.setattr(matrix, "WORK", tmp_path)
    assert matrix.main([*words, *FULL]) == 1
    assert "the wheel cannot be had here: neither pip nor uv" in capsys.readouterr().out
    assert tf_plugins.main(["--wheels", str(tmp_path), "itex"]) == 1


def test_an_optimizer_that_fuses_nothing_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(matrix, "_command", lambda *a: [sys.executable, "-c", DIES, *a[-1]])
    (tmp_path / "index.json").write_text('{"models": [{"name": "a", "format": "g"}]}', "utf-8")
    words = ["--models", str(tmp_path), *FULL, str(tmp_path)]
    assert matrix.main(words) == 0
    monkeypatch.setattr(
        matrix, "_command", lambda *a: [sys.executable, "-c", DIES.replace("2}", "0}"), *a[-1]]
    )
    assert matrix.main(words) == 1
    assert "no cpu, 1 thread(s): no model has a fusion of Intel's" in capsys.readouterr().out
