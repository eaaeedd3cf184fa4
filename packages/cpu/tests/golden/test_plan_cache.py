"""Cached plans of recorded models give the bits that they gave when made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import native_ops
import numpy as np
import pytest
from fresh_process import run_program
from shared_data import MODELS, WHY_NOT, inference_models, tolerance

RECORDED = [m for m in inference_models() if m["format"] in ("graphdef", "metagraph", "savedmodel")]

PROGRAM = """
import json, os, sys
import numpy as np
import drystone_base as ds
from drystone_optimizer.session.module import MODULE
if not ds.modules.stage("optimize"):  # found by a path, not installed
    ds.modules.register(MODULE)
built = os.environ.get("DRYSTONE_CPU_PLUGIN")
if built:
    ds.plugins.load_library(built, policy="allow_unverified")
for row in json.loads(sys.stdin.readline()):
    model = ds.load(row["file"])
    given = dict(np.load(row["ref"], allow_pickle=True))
    feeds = {name: given[f"in{k}"] for k, name in enumerate(row["inputs"])}
    found = model.run(row["outputs"], feeds)
    np.savez(row["out"], **{f"out{k}": v for k, v in enumerate(found)})
print("drystone_base.graph" in sys.modules, "drystone_optimizer.pipeline.meta" in sys.modules)
"""

RANDOM = """
import os, tempfile
from pathlib import Path
import drystone_base as ds
from random_programs import draw
from random_programs.cached import cached_disagreement
built = os.environ.get("DRYSTONE_CPU_PLUGIN")
if built:
    ds.plugins.load_library(built, policy="allow_unverified")
taken = 0
for seed in range(30):
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DRYSTONE_PLAN_CACHE"] = os.path.join(folder, "plans")
        found, plans = cached_disagreement(draw(seed), Path(folder))
    assert found is None, str(found)
    taken += plans
print(taken)
"""

pytestmark = [
    native_ops.needs_onednn(),
    pytest.mark.skipif(not RECORDED, reason=WHY_NOT),
]


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [
        {
            "file": str(MODELS / m["name"] / m["file"]),
            "ref": str(MODELS / m["name"] / "ref_0.npz"),
            "inputs": [spec["tensor"] for spec in m["inputs"]],
            "outputs": [spec["tensor"] for spec in m["outputs"]],
            "out": str(folder / f"{m['name']}.npz"),
        }
        for m in RECORDED
    ]


def _run(tmp_path: Path, name: str) -> tuple[str, Path]:
    folder = tmp_path / name
    folder.mkdir()
    code = f"import io, sys\nsys.stdin = io.StringIO({json.dumps(_rows(folder))!r})\n{PROGRAM}"
    chosen = {"DRYSTONE_PLAN_CACHE": str(tmp_path / "plans"), "DRYSTONE_NUM_THREADS": "1"}
    return run_program(code, None, **chosen).strip(), folder


def test_models_run_from_their_cached_plans(tmp_path: Path) -> None:
    """No graph is read, no optimizer imported; the bits are those of the process that made them."""
    read, made = _run(tmp_path, "made")
    assert read == "True True"
    read, taken = _run(tmp_path, "taken")
    assert read == "False False", f"not all of {len(RECORDED)} plans were cached"
    for model in RECORDED:
        recorded = np.load(MODELS / model["name"] / "ref_0.npz", allow_pickle=True)
        first, second = (
            np.load(f / f"{model['name']}.npz", allow_pickle=True) for f in (made, taken)
        )
        for name in first.files:
            want = recorded[name]
            if first[name].dtype.hasobject:
                assert first[name].tolist() == second[name].tolist() == want.tolist()
                continue
            assert first[name].tobytes() == second[name].tobytes()
            error = np.abs(second[name] - want) / (np.abs(want) + np.std(want) + 1e-30)
            assert error.max(initial=0) <= tolerance(model), (model["name"], name)
    written = len([*(tmp_path / "plans").glob("*.plan")])  # also steps, loadings, digests
    assert 2 * len(RECORDED) <= written <= 4 * len(RECORDED)


def test_random_programs_do_the_same_from_cached_plans() -> None:
    """Values of every dtype, control flow, functions, state and errors."""
    assert int(run_program(RANDOM)) >= 5
