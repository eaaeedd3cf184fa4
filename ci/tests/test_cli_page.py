"""docs/cli.md says what `drystone --help` says."""

from __future__ import annotations

import pytest

from ci.scripts import cli_page


def test_the_page_is_up_to_date() -> None:
    assert not cli_page.outdated(), "run python -m ci.scripts.cli_page"


def test_a_page_with_other_words_is_outdated(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = tmp_path_factory.mktemp("docs") / "cli.md"
    monkeypatch.setattr(cli_page, "PAGE", page)
    assert cli_page.outdated()
    page.write_text(cli_page.render().replace("  ", " "), encoding="utf-8")
    assert not cli_page.outdated()
    page.write_text(cli_page.render().replace("--profile", "--profiles"), encoding="utf-8")
    assert cli_page.outdated()
