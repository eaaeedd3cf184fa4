"""``drystone cache``: plans for images, and what the plan cache holds."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from cached_plans import Cached, model_of
from click.testing import CliRunner
from fresh_process import run_program

from drystone_base.cli._app import app
from drystone_base.core.installed import note_name
from drystone_base.files.store import Store

WARM = """
import sys
from drystone_base.cli._app import app
app({arguments!r}, standalone_mode=True)
"""
USE = """
import sys
import numpy as np
import drystone_base as ds
model = ds.load({file!r})
print(model(np.ones((1, 3), np.float32))["y"].tolist(), *(
    name in sys.modules for name in ("importlib.metadata", "drystone_base.graph")
))
"""


def warmed(*models: Path, into: Path, options: tuple[str, ...] = ()) -> dict[str, Any]:
    """What ``cache warm --json`` says, in a process of its own."""
    arguments = ["cache", "warm", *map(str, models), "--into", str(into), "--json", *options]
    said: dict[str, Any] = json.loads(run_program(WARM.format(arguments=arguments)))
    return said


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return model_of(tmp_path / "model.pb")


def test_a_container_starts_with_the_plans_of_its_image(model: Path, tmp_path: Path) -> None:
    """The model has another path, inode and time there; the folder is read-only."""
    image, container = tmp_path / "image", tmp_path / "container"
    said = warmed(model, into=image)
    assert said["folder"] == str(image)
    (plan,) = said["plans"]
    assert plan["cached"]
    assert plan["feeds"] == ["x:0"]
    shutil.copytree(image, container)
    other = tmp_path / "there" / "net.pb"
    other.parent.mkdir()
    other.write_bytes(model.read_bytes())
    os.utime(other, (1_000_000_000, 1_000_000_000))
    shutil.rmtree(image)
    for file in container.iterdir():
        assert file.stat().st_mode & 0o777 == 0o644, "another user may read it"
        file.chmod(0o444)
    container.chmod(0o555)
    before = sorted(file.name for file in container.iterdir())
    assert note_name() in before
    chosen = {"DRYSTONE_PLAN_CACHE": str(container), "XDG_CACHE_HOME": str(tmp_path / "nothing")}
    found = run_program(USE.format(file=str(other)), **chosen)
    assert found.split("]] ") == ["[[1.0, 1.0, 1.0", "False False\n"]
    assert sorted(file.name for file in container.iterdir()) == before


def test_threads_are_part_of_the_request(model: Path, tmp_path: Path) -> None:
    plans = tmp_path / "plans"
    warmed(model, into=plans, options=("--threads", "2"))
    with_two = USE.replace("ds.load({file!r})", "ds.load({file!r}, threads=2)")
    for code, reads in ((with_two, "False"), (USE, "True")):
        found = run_program(code.format(file=str(model)), DRYSTONE_PLAN_CACHE=str(plans))
        assert found.split()[-1] == reads


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["cache", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_what_the_cache_holds_is_listed_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Cached(tmp_path)
    assert not kept.run(["y:0"])
    monkeypatch.setenv("DRYSTONE_PLAN_CACHE", str(kept.plans))
    found = json.loads(run("list", "--json"))
    assert found["folder"] == str(kept.plans)
    assert [entry["kind"] for entry in found["entries"]] == ["loading", "plan"]
    plan = found["entries"][1]
    assert (plan["model"], plan["fetches"], plan["feeds"]) == (str(kept.file), ["y:0"], ["x:0"])
    assert plan["bytes"] == Path(plan["file"]).stat().st_size
    assert 0 <= plan["seconds"] < 3600
    shown = run("list")
    assert "2 entries" in shown
    assert "model.pb" in shown
    assert json.loads(run("clear", "--model", str(tmp_path / "other"), "--json"))["files"] == 0
    assert json.loads(run("clear", "--model", str(kept.file), "--json"))["files"] == 2
    assert "removed" in run("clear")
    assert kept.files() == []
    assert list(kept.plans.iterdir()) == []


@pytest.mark.parametrize("made_from", [None, [], [1], "text", ["digest", [], [], []]])
def test_entries_of_another_release_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_from: Any
) -> None:
    facts = {"plan_size": 1} if made_from is None else {"plan_size": 1, "made_from": made_from}
    Store(tmp_path, None, "plan").write("ab", facts, [])
    monkeypatch.setenv("DRYSTONE_PLAN_CACHE", str(tmp_path))
    (found,) = json.loads(run("list", "--json"))["entries"]
    assert (found["kind"], found["fetches"], found["feeds"]) == ("plan", [], [])
    assert json.loads(run("clear", "--json"))["files"] == 1


def test_a_cache_that_is_off_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRYSTONE_PLAN_CACHE", "off")
    assert json.loads(run("list", "--json")) == {"folder": "", "entries": []}
    assert "is off" in run("list")
    assert json.loads(run("clear", "--json")) == {"files": 0, "bytes": 0}


def test_a_folder_that_cannot_be_written_is_refused(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_PLAN_CACHE", "off")  # is put back afterwards
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    said = run("warm", str(model), "--into", str(tmp_path / "file" / "plans"), code=2)
    assert "the plan cache cannot be written" in said


@pytest.mark.parametrize("arguments", [(), ("warm",), ("list",), ("clear",)])
def test_help_has_examples(arguments: tuple[str, ...]) -> None:
    said = run(*arguments, "--help")
    assert "Examples:" in said
    assert "--json" in said


def test_a_plan_that_cannot_be_cached_is_told(model: Path, tmp_path: Path) -> None:
    code = f"""
from click.testing import CliRunner
from drystone_base.cli._app import app
from drystone_base.ops.defs import OpDef, register
register(OpDef("Mine", (), ()))
done = CliRunner().invoke(app, ["cache", "warm", {str(model)!r}, "--into", {str(tmp_path / "p")!r}])
print(done.exit_code, "plan-cache.md" in done.output.replace("\\n", ""))
"""
    assert run_program(code).split()[0] == "1"
