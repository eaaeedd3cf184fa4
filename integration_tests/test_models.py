"""Real models through the installed `drystone` command give what TensorFlow recorded."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from integration_tests.support import DATA, InstalledEnv

pytestmark = pytest.mark.cases_in_gate(3)

MODELS = sorted(path.parent for path in DATA.glob("*/cases.json"))
CASES = [
    pytest.param(
        folder, case, id=f"{folder.name}-{number}", marks=[pytest.mark.nightly] * (number > 0)
    )
    for folder in MODELS
    for number, case in enumerate(json.loads((folder / "cases.json").read_text())["cases"])
]


def facts_of(folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    return facts


def test_there_are_models() -> None:
    assert len(MODELS) >= 6


@pytest.mark.parametrize(("folder", "case"), CASES)
def test_run_gives_the_recorded_outputs(
    installed_env: InstalledEnv, tmp_path: Path, folder: Path, case: dict[str, Any]
) -> None:
    facts = facts_of(folder)
    out = tmp_path / "out.npz"
    fetches = [part for tensor in case["fetches"] for part in ("--fetch", tensor)]
    given = ("--inputs", folder / case["inputs"], "--outputs", out)
    installed_env.run_drystone("run", folder / facts["model"], *given, *fetches)
    compared = installed_env.run_drystone(
        "diff", folder / case["outputs"], out, "--tolerance", str(facts["tolerance"]), "--json"
    )
    rows = json.loads(compared)["outputs"]
    assert {row["name"] for row in rows} == set(case["fetches"])


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_every_reached_op_has_a_kernel(installed_env: InstalledEnv, folder: Path) -> None:
    text = installed_env.run_drystone("inspect", folder / facts_of(folder)["model"], "--json")
    facts = json.loads(text)
    reached = {op: row for op, row in facts["unsupported"].items() if row["reached_by"]}
    assert reached == {}
    assert facts["signatures"]


def test_a_wrong_output_is_told_apart(installed_env: InstalledEnv) -> None:
    """The comparison above can fail: outputs of another case differ."""
    folder = DATA / "textgenrnn-v2cf"
    files = [folder / "case_0.out.npz", folder / "case_1.out.npz"]
    done = installed_env.run(installed_env.drystone, "diff", *files, ok=False)
    assert done.returncode == 1
    assert "they differ" in done.stdout


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_a_real_model_can_be_drawn(
    installed_env: InstalledEnv, tmp_path: Path, suffix: str
) -> None:
    target = tmp_path / f"guesslang.{suffix}"
    said = installed_env.run_drystone(
        "inspect", DATA / "guesslang" / "saved_model", "--graph", target
    )
    assert f"into {target}" in said
    text = target.read_text(encoding="utf-8")
    assert "LookupTableFindV2" in text


@pytest.mark.nightly
def test_models_beside_the_checkout_agree(
    installed_env: InstalledEnv, shared_models: Path | None
) -> None:
    """The comparison script that comes with the shared models, on all of its inference models."""
    if shared_models is None:
        pytest.skip("the recorded models are not beside the checkout")
    path = f"PATH={installed_env.scripts}{os.pathsep}{os.environ['PATH']}"
    script = shared_models.parent / "tools" / "compare_models.py"
    done = installed_env.run("env", path, installed_env.python, script, ok=False)
    assert done.returncode == 0, done.stdout + done.stderr
