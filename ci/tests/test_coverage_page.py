"""docs/reference/coverage.md tells the truth about the kernels of this checkout."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ci.scripts import coverage_generate
from ci.scripts.coverage_generate import OpState
from ci.scripts.project import ROOT

STATES = [
    OpState(
        "Add", "arithmetic", True, True, 7, random=5, scenarios=3, dtypes="4 of 6", native="cpu"
    ),
    OpState("Abort", "arithmetic", kernel=True, shapes=True, golden=0, unit=True),
    OpState("Fft", "signal", kernel=False, shapes=True, golden=0),
    OpState("Zeta", "", kernel=False, shapes=False, golden=0),
]


def recorded() -> dict[str, Any]:
    row = {"format": "graphdef", "nodes": 9, "function_nodes": 0, "cases": 2, "allowed": 1e-4}
    return {
        "models": [
            {**row, "name": "near", "worst": 2e-6},
            {**row, "name": "far", "worst": 2e-3},
            {**row, "name": "broken", "worst": None, "error": "no kernel"},
        ],
        "op_cases": {"cases": 5, "ops": 3, "failed": ["Add/003"]},
        "used_by": {"Add": 2},
    }


def test_the_page_is_up_to_date() -> None:
    """In a process of its own: other tests register ops, which the page is not about."""
    command = [sys.executable, "-m", "ci.scripts.coverage_generate", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        "kernels, shape functions or golden cases have changed: "
        f"run python -m ci.scripts.coverage_generate\n{done.stdout}{done.stderr}"
    )


def test_a_stale_page_is_found_and_written_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a few ops: to look at all of them takes seconds, each time."""
    monkeypatch.setattr(coverage_generate, "op_states", lambda: STATES)
    shutil.copy(ROOT / "docs" / "reference" / "coverage.json", tmp_path)
    assert coverage_generate.main(["--check"], tmp_path) == 1  # missing
    assert coverage_generate.main([], tmp_path) == 0
    assert coverage_generate.main(["--check"], tmp_path) == 0
    page = tmp_path / "coverage.md"
    page.write_text(page.read_text().replace("| `Add` | yes |", "| `Add` | - |"))
    assert coverage_generate.main(["--check"], tmp_path) == 1
    assert "outdated; run python -m ci.scripts.coverage_generate" in capsys.readouterr().out


def test_models_beyond_what_is_allowed_stand_out() -> None:
    page = coverage_generate.render(recorded(), STATES)
    assert "| models within tolerance | 1 of 3 |" in page
    assert "| near | frozen GraphDef | 9 | 2 | 2.0e-06 | 1.0e-04 |" in page
    assert "| far | frozen GraphDef | 9 | 2 | **2.0e-03** | 1.0e-04 |" in page
    assert "| broken | frozen GraphDef | 9 | 2 | **does not run** | 1.0e-04 |" in page
    assert "4 of 5 pass. Not yet: `Add/003`." in page


def test_ops_are_listed_by_family_and_the_rest_as_missing() -> None:
    page = coverage_generate.render(recorded(), STATES)
    assert "| ops with a kernel | 2 |" in page
    assert "| ops with a kernel held by none of these | 1 |" in page
    assert "| of these named by a unit test | 1 |" in page
    assert "### arithmetic\n\n" in page
    assert "| `Add` | yes | yes | 7 | 5 | 3 | 4 of 6 | cpu | 2 |" in page
    assert "| ops with native kernels | 1 |" in page
    assert "| `Fft` | - | yes |  |  |" in page
    assert page.rstrip().endswith("`Zeta`")
    assert "`Fft`" not in page.split("## Known, not implemented")[1]


def test_every_recorded_model_and_op_case_passes() -> None:
    kept = json.loads((ROOT / "docs" / "reference" / "coverage.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in kept["models"] if not coverage_generate.passes(row)] == []
    assert kept["op_cases"]["failed"] == []
