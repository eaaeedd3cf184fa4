"""The bootstrap's messages and the closing line of a session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ci import bootstrap
from ci.scripts import steps


def test_help_needs_no_environment() -> None:
    done = subprocess.run(
        [sys.executable, bootstrap.__file__, "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Make a private environment with nox")
    assert "ci/bootstrap.py tests" in done.stdout


def test_old_python_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    with pytest.raises(SystemExit) as stopped:
        bootstrap.check_python()
    assert stopped.value.code == 2
    assert "Python 3.9 found at" in capsys.readouterr().err


@pytest.mark.parametrize(("native", "status"), [("true", 2), ("false", None)])
def test_missing_compiler(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    native: str,
    status: int | None,
) -> None:
    (tmp_path / "ci").mkdir()
    table = f'[packages.cpu]\ndistribution = "drystone-cpu"\nnative = {native}\n'
    (tmp_path / "ci" / "packages.toml").write_text(table, encoding="utf-8")
    monkeypatch.setattr(bootstrap, "TOP", str(tmp_path))
    monkeypatch.setattr(bootstrap, "find_compiler", lambda: None)
    if status is None:
        bootstrap.check_compiler()
        assert "none of the packages needs one" in capsys.readouterr().out
        return
    with pytest.raises(SystemExit) as stopped:
        bootstrap.check_compiler()
    assert stopped.value.code == status
    text = capsys.readouterr().err
    assert "no C++ compiler found" in text
    assert "To compile drystone-cpu" in text
    assert "sudo apt-get install g++" in text


def test_broken_venv_module_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho ensurepip is not available\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setattr(bootstrap, "HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(SystemExit):
        bootstrap.environment()
    text = capsys.readouterr().err
    assert "no working venv module (ensurepip is not available)" in text
    assert "-venv" in text


def test_compiler_is_looked_for_in_cxx_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", f"{sys.executable} -m something")
    assert bootstrap.find_compiler() == sys.executable
    monkeypatch.setenv("CXX", "")
    monkeypatch.setenv("PATH", os.devnull)
    assert bootstrap.find_compiler() is None


JUNIT = '<testsuites><testsuite tests="9" failures="1" errors="1" skipped="2"/></testsuites>'


def test_steps_all_run_and_are_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DRYSTONE_CLOSING_LINE", raising=False)
    report = tmp_path / "report.xml"

    def fail() -> None:
        report.write_text(JUNIT, encoding="utf-8")
        raise ValueError("exit code 1")

    session = steps.Steps(ValueError)
    session.run("lint", lambda: None)
    session.run("tests", fail, junit=report)
    session.run("absent", lambda: None, junit=tmp_path / "none.xml")
    assert not session.close()
    assert capsys.readouterr().out.splitlines()[-1] == "6 passed, 3 failed, 2 skipped"


def test_a_crash_after_green_tests_counts_as_failed(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"

    def crash() -> None:
        report.write_text(JUNIT.replace('"1"', '"0"'), encoding="utf-8")
        raise ValueError("exit code 139")

    session = steps.Steps(ValueError)
    assert not session.run("tests", crash, junit=report)
    assert session.outcomes[0].failed == 1


def test_closing_line_goes_to_the_file_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_CLOSING_LINE", str(tmp_path / "line"))
    session = steps.Steps(ValueError)
    session.run("lint", lambda: None)
    assert session.close()
    assert (tmp_path / "line").read_text(encoding="utf-8") == "1 passed, 0 failed, 0 skipped\n"


@pytest.mark.parametrize("given", [["--count", "9"], ["--", "--count", "9"]])
def test_arguments_of_a_session_with_or_without_dashes(
    given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(bootstrap, "check_compiler", lambda: None)
    monkeypatch.setattr(bootstrap, "environment", lambda: "python")

    def run(_: str, arguments: list[str]) -> int:
        asked.append(arguments)
        return 0

    monkeypatch.setattr(bootstrap, "run", run)
    assert bootstrap.main(["random_plans", *given]) == 0
    assert asked == [["-s", "random_plans", "--", "--count", "9"]]


CASES = """
import pytest

@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("k", [4, 3, 2, 1, 0])
def test_many(k): pass

@pytest.mark.cases_in_gate(3)
def test_one(): pass
"""


def test_of_many_cases_some_are_in_the_gate(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(CASES, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        f"{bootstrap.TOP}/.pytest.ini",
        "-p",
        "conftest",
    ]
    command += ["--collect-only", "-q", "-m", "not nightly", "-p", "no:randomly", str(tmp_path)]
    found = subprocess.run(
        command, cwd=bootstrap.TOP, env=os.environ | {"PYTHONPATH": bootstrap.TOP},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    names = [line.partition("::")[2] for line in found.splitlines() if "::" in line]
    assert names == ["test_many[3]", "test_many[0]", "test_one"]
