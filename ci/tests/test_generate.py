"""One command runs every generator."""

from __future__ import annotations

import re

import pytest

from ci.scripts import generate
from ci.scripts.project import ROOT


def test_every_script_that_compares_is_run_or_named() -> None:
    scripts = (ROOT / "ci" / "scripts").glob("*.py")
    comparing = {
        path.stem
        for path in scripts
        if re.search(r'"--check" in sys.argv|add_argument\("--check"', path.read_text("utf-8"))
    }
    named = {*generate.GENERATORS, *generate.ELSEWHERE}
    assert comparing - {"generate"} <= named
    assert all((ROOT / "ci" / "scripts" / f"{name}.py").is_file() for name in named)


def test_what_is_up_to_date_and_what_is_not(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert generate.main(["--check", "--only", "metapackage_pins,compat_page"]) == 0
    monkeypatch.setattr(generate, "_ran", lambda name, **_: name != "cli_page")
    assert generate.main(["--check"]) == 1
    assert "outdated: cli_page; run python -m ci.scripts.generate" in capfd.readouterr().out
    assert generate.main([]) == 1
    assert "failed: cli_page" in capfd.readouterr().out


def test_a_name_that_means_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        generate.main(["--only", "cli_pages"])
    assert ended.value.code == 2
    assert "no generator is called cli_pages; there are platform_tables" in capsys.readouterr().err
