"""The benchmark measures what it says, quickly and in small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from ci.scripts.project import ROOT


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "packages" / "base"), "COLUMNS": "160"}
    return subprocess.run(
        [sys.executable, "-m", "bench", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=settings,
        check=False,
    )


def test_large_graphs_are_measured_and_round_trip(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    done = bench("--quick", "--only", "graphs", "--json", file)
    assert done.returncode == 0, done.stderr + done.stdout
    rows = json.loads(file.read_text(encoding="utf-8"))["graphs"]["rows"]
    assert [row["kind"] for row in rows] == ["chain", "wide", "layered"]
    for row in rows:
        assert f"│ {row['kind']}" in done.stdout
        assert row["nodes"] == 10_000
        assert row["same_bytes"] is True
        assert row["rss_peak"] >= row["rss_load"] > row["bytes"]
        for stage in ("load", "write", "order", "fan_out", "validate", "infer"):
            assert 0 < row[stage]["us_per_node"] < 10_000


def test_sizes_name_our_distributions_and_their_sum(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    done = bench("--quick", "--only", "sizes", "--json", file)
    assert done.returncode == 0, done.stderr + done.stdout
    rows = {row["what"]: row for row in json.loads(file.read_text())["sizes"]["rows"]}
    parts = [row["bytes"] for name, row in rows.items() if name not in SUMS]
    assert {"drystone", "drystone-base", "drystone-plugin-abi", "numpy"} < set(rows)
    assert sum(parts) == rows["all together"]["bytes"]
    assert rows["drystone-base"]["bytes"] > 100_000


SUMS = ("drystone's own", "all together")


def test_unknown_section_is_refused_with_the_known_ones() -> None:
    done = bench("--only", "speed")
    assert done.returncode == 2
    assert "graphs" in done.stderr
