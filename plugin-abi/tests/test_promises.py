"""The page of promises names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "plugin-promises.md"
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "| `" in line]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_each_promise_has_tests_that_are_there(row: str) -> None:
    named = re.findall(r"`([\w./-]+\.py)(?:::(\w+))?`", row)
    assert named
    for file, test in named:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in text, f"{file} has no {test}"


def test_there_are_promises() -> None:
    assert len(ROWS) > 30
