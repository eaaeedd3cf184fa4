"""Plugins of others: the register, and that a planted break of each kind is told apart."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ci.nightly import community, results
from ci.nightly.plugin_trial import Entry, Found, read_register, try_plugin
from ci.nightly.suite import LeftOut, Place, Wrong
from ci.scripts.project import ROOT, git
from ci.scripts.wheels import newest

GOOD = Found({"developer": "loaded"}, "5 passed in 1s", "2 passed in 1s")
ENTRY = Entry("mine", "index", "1.0", "@me", {"developer": "loaded"})


def judged(found: Found, before: Found | None = None, entry: Entry = ENTRY, since: str = "") -> str:
    with pytest.raises(Wrong) as error:
        community.judge(entry, found, lambda: before, since)
    return str(error.value)


def test_examples_and_wheels_made_for_tensorflow_are_registered() -> None:
    """S2-community."""
    entries = {entry.name: entry for entry in read_register()}
    projects = {
        path.parent.name for path in (ROOT / "plugin-abi/examples").glob("*/pyproject.toml")
    }
    folders = {Path(entry.source).name for entry in entries.values() if entry.source != "index"}
    assert folders == projects
    assert {"intel-extension-for-tensorflow-lib", "tensorflow-io-gcs-filesystem"} <= set(entries)
    assert all((ROOT / one.source).is_dir() for one in entries.values() if one.source != "index")
    assert [case.name for case in community.cases(Place(ROOT))] == list(entries)


def test_what_is_as_expected() -> None:
    asked: list[str] = []

    def release() -> None:
        asked.append("the release")

    figures = community.judge(ENTRY, GOOD, release)
    assert figures == {
        "host": "developer: loaded", "conformance": "5 passed in 1s", "tests": "2 passed in 1s",
    }  # fmt: skip
    assert asked == []  # which costs an environment


@pytest.mark.parametrize(
    "problem",
    [
        "asked developer: plugin-wrong-abi, where loaded is expected: ...",
        "asked default: loaded, where plugin-unsigned is expected",
        "cannot be installed: no version of drystone-base matches >=2",
        "cannot be built: fatal error: drystone/gone.h: No such file",
        "conformance: FAILED test_values.py::test_random",
        "tests: FAILED test_mine.py::test_it",
    ],
)
def test_each_kind_of_break_is_told_apart(problem: str) -> None:
    """S2-community."""
    broken = Found(problems=[problem])
    assert judged(broken) == f"{problem} [no release to compare with; tell @me]"
    assert "with the last release it passes: what changed since broke it" in judged(broken, GOOD)
    worse = Found(problems=["it was broken before"])
    said = judged(broken, worse)
    assert "with the last release it fails as well: it was broken before" in said


def test_what_is_expected_to_fail() -> None:
    entry = replace(ENTRY, expected_to_fail="needs op X")
    kept = community.judge(entry, Found(problems=["op X is unknown"]), lambda: None)
    assert kept == {"fails": "needs op X", "with": "op X is unknown"}
    assert judged(GOOD, entry=entry) == (
        "it passes, and is marked as expected to fail (needs op X): take the mark out of "
        "community/plugins.toml"
    )


def test_commits_since_it_passed_are_named(tmp_path: Path) -> None:
    here = (git(ROOT, "rev-parse", "HEAD") or "").strip()
    if not here:
        pytest.skip("this is no git checkout")
    runs = [
        {"commit": here, "cases": {"mine": {"state": "ok"}}},
        {"commit": "0" * 12, "cases": {"mine": {"state": "failed"}}},
    ]
    results.save(tmp_path, "community", runs)
    place = Place(tmp_path, results=tmp_path)
    assert community.since(ENTRY, place) == (f"since it passed with {here}: no commit to packages")
    assert community.since(replace(ENTRY, name="new"), place) == ""


def test_the_newest_release_of_each_counts(tmp_path: Path) -> None:
    for name in ("a-1.9.0", "a-1.10.0", "b-0.1.0"):
        (tmp_path / f"{name}-py3-none-any.whl").touch()
    (tmp_path / "a-1.10.0.tar.gz").touch()
    found = [wheel.name.rpartition("-py3")[0] for wheel in newest(tmp_path).values()]
    assert found == ["a-1.10.0", "b-0.1.0"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("conformence = []", "x: there is no field 'conformence': conformance, "),
        ('expects = { strict = "loaded" }', "x: the host is not asked 'strict', but default, "),
        ("expects = {}", "x: has no 'expects'"),
        ('from = ""', "x: has no 'from'"),
    ],
)
def test_an_entry_that_means_nothing(tmp_path: Path, text: str, said: str) -> None:
    fields = {
        "name": 'name = "x"', "from": 'from = "index"', "version": 'version = "1"',
        "maintainer": 'maintainer = "@x"', "expects": 'expects = { default = "loaded" }',
    }  # fmt: skip
    fields[text.partition(" ")[0]] = text
    file = tmp_path / "plugins.toml"
    file.write_text("[[plugins]]\n" + "\n".join(fields.values()) + "\n", encoding="utf-8")
    with pytest.raises(Wrong) as error:
        read_register(file)
    assert said in str(error.value)


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
def test_what_cannot_be_installed_is_a_break(tmp_path: Path) -> None:
    found = try_plugin(ENTRY, [tmp_path / "gone-1.0-py3-none-any.whl"], tmp_path / "trial")
    (problem,) = found.problems
    assert problem.startswith("cannot be installed: ")
    assert "gone-1.0" in problem


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
def test_without_an_index_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    for name, value in {"NO_CACHE": "1", "NO_CONFIG": "1", "HTTP_RETRIES": "0"}.items():
        monkeypatch.setenv(f"UV_{name}", value)
    with pytest.raises(LeftOut, match="the package index cannot be reached: "):
        try_plugin(ENTRY, [], tmp_path / "trial")


def test_a_name_twice(tmp_path: Path) -> None:
    one = '[[plugins]]\nname="x"\nfrom="index"\nversion="1"\nmaintainer="@x"\n'
    one += 'expects={default="loaded"}\n'
    (tmp_path / "plugins.toml").write_text(one * 2, encoding="utf-8")
    with pytest.raises(Wrong, match="x is there twice"):
        read_register(tmp_path / "plugins.toml")
