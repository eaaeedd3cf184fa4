"""The index of decisions: every page, and the numbers that no page has."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks.decisions import FOLDER, find

PAGE = "# 000{0} Page {0}\n\nStatus: accepted.\n\nWhy.\n"
LISTED = "- [0001 Page 1](0001-page.md)\n- [0003 Page 3](0003-page.md)\n"


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("there is no 0002", None),
        ("nothing", "does not say that there is no 0002"),
        ("there is no 0002 and 0003", "says that there is no 0003"),
    ],
)
def test_the_index_names_the_numbers_that_no_page_has(
    tmp_path: Path, said: str, problem: str | None
) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for k in (1, 3):
        (folder / f"000{k}-page.md").write_text(PAGE.format(k), encoding="utf-8")
    (folder / "index.md").write_text(f"{said}\n\n{LISTED}", encoding="utf-8")
    assert find(tmp_path) == ([] if problem is None else [f"{FOLDER}/index.md: {problem}"])
