"""docs/performance.md, its plot and the README's section say what the committed result says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from bench import result as of
from ci.scripts import performance_page
from ci.scripts.project import ROOT


def test_the_pages_are_up_to_date() -> None:
    assert performance_page.outdated() == [], "run python -m ci.scripts.performance_page"


def test_other_numbers_make_every_page_outdated(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "bench" / "results").mkdir(parents=True)
    for file in ("README.md", "docs/performance.md", "docs/performance.svg"):
        shutil.copy(ROOT / file, tmp_path / file)
    result: Any = of.latest()
    copy = tmp_path / "bench" / "results" / "x.json"
    copy.write_text(json.dumps(result), encoding="utf-8")
    assert performance_page.outdated(tmp_path) == []
    row = next(row for row in result["cases"] if of.ratio(row, "tensorflow"))
    row["found"]["tensorflow"]["slots_s"] = [9e9] * len(row["found"]["drystone"]["slots_s"])
    copy.write_text(json.dumps(result), encoding="utf-8")
    assert [text.split()[0] for text in performance_page.outdated(tmp_path)] == [
        "docs/performance.md", "README.md", "docs/performance.svg"
    ]  # fmt: skip


def test_a_ratio_is_the_median_over_rounds_and_needs_right_answers() -> None:
    ours = {"median_s": 2.0, "slots_s": [1.0, 2.0, 4.0], "difference": 0.0}
    theirs = {"median_s": 4.0, "slots_s": [3.0, 4.0, 4.0], "difference": 0.01}
    row = {"tolerance": 1e-4, "found": {"drystone": ours, "torch": theirs}}
    assert of.ratio(row, "torch") == 2.0
    mean = of.mean_ratio([row, row], "torch")
    assert mean is not None
    assert mean[0] == pytest.approx(2.0)
    assert mean[1] == 2
    theirs["difference"] = 0.2
    assert of.ratio(row, "torch") is None
    assert of.ratio(row, "drystone") is None
    assert of.mean_ratio([row], "torch") is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0000012345, "1.23 µs"), (0.00009999, "100 µs"), (0.25, "250 ms"), (12.3, "12.3 s")],
)
def test_durations_have_three_digits(seconds: float, text: str) -> None:
    assert of.duration(seconds) == text
