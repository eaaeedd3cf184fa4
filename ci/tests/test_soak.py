"""The verdict over a soak's samples, and its pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from ci.scripts.soak_report import slope, sparkline, svg, verdict


def samples(rise: float, tensors: tuple[int, int] = (7, 7)) -> list[dict[str, float]]:
    """An hour: memory jumps while caches fill, then rises by that many MiB an hour."""
    return [
        {
            "seconds": 36.0 * k,
            "mib": (20.0 * k if k < 10 else 200.0) + rise * k / 100,
            "live_tensors": tensors[k > 80],
            "runs": 10 * k,
            "findings": 0,
        }
        for k in range(1, 101)
    ]


def test_a_line_has_its_slope() -> None:
    assert slope([1, 2, 3], [5, 7, 9]) == pytest.approx(2)
    assert slope([1], [5]) == 0


def test_what_is_flat_once_warm_passes() -> None:
    found = verdict(samples(1.0), 8.0)
    assert found["flat"]
    assert found["mib_an_hour"] == pytest.approx(1.0, abs=0.01)
    assert found["lines"][-1] == "FLAT: 1000 runs in 1.00 h, 0 findings"


def test_what_rises_fails() -> None:
    assert not verdict(samples(9.0), 8.0)["flat"]


def test_one_object_more_fails() -> None:
    found = verdict(samples(0.0, (7, 8)), 8.0)
    assert found["grown"] == ["live_tensors"]
    assert "NOT FLAT" in found["lines"][-1]


def test_pictures() -> None:
    assert sparkline([0, 7]) == "▁█ 0.0 to 7.0 MiB"
    assert sparkline([3.0]) == "▁ 3.0 to 3.0 MiB"
    assert ET.fromstring(svg(samples(0.0))).tag.endswith("svg")
