"""docs/reference/cli.md says what `drystone --help` says."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ci.scripts import cli_page
from ci.scripts.project import ROOT


def test_the_page_is_up_to_date() -> None:
    """In a process of its own: modules that other tests register here have commands, too."""
    command = [sys.executable, "-m", "ci.scripts.cli_page", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_with_other_words_is_outdated(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing is rendered here: that would register modules which later tests do not expect."""
    page = tmp_path_factory.mktemp("docs") / "cli.md"
    monkeypatch.setattr(cli_page, "PAGE", page)
    monkeypatch.setattr(cli_page, "render", lambda: "drystone run  --profile\n")
    assert cli_page.outdated()
    page.write_text("drystone run --profile\n", encoding="utf-8")
    assert not cli_page.outdated()
    page.write_text("drystone run --profiles\n", encoding="utf-8")
    assert cli_page.outdated()


def test_a_package_that_is_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(cli_page, "find", lambda _name: None)
    monkeypatch.setattr(cli_page, "import_module", fail)
    assert cli_page.main() == 2
    told = capsys.readouterr().err
    assert told.startswith("docs/reference/cli.md: left as it is; the commands of drystone-")
    assert "would be missing: No module named" in told
    assert "; pip install ./packages/" in told
