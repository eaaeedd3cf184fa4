"""The page performance.md, its plot and the README's section say what the committed result says."""

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
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    (tmp_path / "bench" / "results").mkdir(parents=True)
    for file in ("README.md", "docs/reference/performance.md", "docs/reference/performance.svg"):
        shutil.copy(ROOT / file, tmp_path / file)
    result: Any = of.latest()
    copy = tmp_path / "bench" / "results" / "x.json"
    copy.write_text(json.dumps(result), encoding="utf-8")
    assert performance_page.outdated(tmp_path) == []
    row = next(row for row in result["cases"] if of.ratio(row, "tensorflow"))
    ours, theirs = (row["found"][name]["slots"] for name in ("drystone", "tensorflow"))
    theirs[row["clock"]] = [9e9] * len(ours[row["clock"]])
    copy.write_text(json.dumps(result), encoding="utf-8")
    assert [text.split()[0] for text in performance_page.outdated(tmp_path)] == [
        "docs/reference/performance.md", "README.md", "docs/reference/performance.svg"
    ]  # fmt: skip


def test_a_ratio_is_the_median_over_rounds_and_needs_right_answers() -> None:
    ours = {"slots": {"wall": [1.0, 2.0, 4.0], "cpu": [1.0, 1.0, 1.0]}, "difference": 0.0}
    theirs = {"slots": {"wall": [3.0, 4.0, 4.0], "cpu": [5.0, 5.0, 4.0]}, "difference": 0.01}
    found = {"drystone": ours, "torch": theirs}
    row: dict[str, Any] = {"tolerance": 1e-4, "clock": "wall", "found": found}
    assert of.ratio(row, "torch") == 2.0
    assert of.ratio({**row, "clock": "cpu"}, "torch") == 5.0
    assert of.spread(row, "torch") == 0.125
    mean = of.mean_ratio([row, row], "torch")
    assert mean is not None
    assert mean[0] == pytest.approx(2.0)
    assert mean[1] == 2
    theirs["difference"] = 0.2
    assert of.ratio(row, "torch") is None
    assert of.ratio(row, "drystone") is None
    assert of.mean_ratio([row], "torch") is None


def test_rows_of_another_run_take_the_places_of_the_published_ones() -> None:
    published: Any = of.latest()
    row = published["cases"][3]
    again = {**row, "title": "measured again"}
    run = {**published, "when": "2030-01-01T00:00", "commit": "abc", "processes": [],
           "cases": [again, {**again, "name": "new"}]}  # fmt: skip
    assert of.misfit(published, run) == ""
    found = of.updated(published, run)
    assert [r["name"] for r in found["cases"]] == [*(r["name"] for r in published["cases"]), "new"]
    assert found["cases"][3] == {**again, "when": "2030-01-01T00:00", "commit": "abc"}
    assert found["cases"][4] == published["cases"][4]
    assert found["processes"] == published["processes"]
    assert found["when"] == published["when"]
    told = f"Measured at another time, 2030-01-01T00:00, at commit `abc`: {row['name']}, new."
    assert told in performance_page.page(found)


def test_rows_of_other_machines_and_versions_are_not_mixed() -> None:
    published: Any = of.latest()
    assert of.misfit(None, published) == "nothing is published yet"
    assert "machine" in of.misfit(published, {**published, "machine": {"cores": 64}})
    machine = published["machine"]
    for more, why in ((8192, ""), (1 << 30, "machine")):  # what a system keeps at its start
        other = {**published, "machine": {**machine, "memory": machine["memory"] + more}}
        assert why in of.misfit(published, other)
        assert bool(of.misfit(published, other)) is bool(why)
    peers = {"openvino": {"versions": {"openvino": "1999.1"}}}
    assert "another openvino" in of.misfit(published, {**published, "peers": peers})
    assert (
        of.misfit(published, {**published, "peers": {"drystone": published["peers"]["drystone"]}})
        == ""
    )


def test_the_clock_is_the_processors_where_others_took_the_cores_away() -> None:
    quiet, busy = {"others": 0.05}, {"others": 1.2}
    assert of.clock({"found": {"a": quiet, "b": quiet}, "threads": 1}) == "wall"
    assert of.clock({"found": {"a": quiet, "b": busy, "c": {"none": "x"}}, "threads": 1}) == "cpu"
    assert of.clock({"found": {"a": busy}, "threads": 2}) == "wall"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0000012345, "1.23 µs"), (0.00009999, "100 µs"), (0.25, "250 ms"), (12.3, "12.3 s")],
)
def test_durations_have_three_digits(seconds: float, text: str) -> None:
    assert of.duration(seconds) == text
