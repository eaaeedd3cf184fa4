"""Recorded training runs with passes that are off, or idle, by default: loss by loss."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_data import MODELS, REPO, model_index

import drystone_base as ds
from drystone_base.loaders import load_model
from drystone_optimizer import OptimizerConfig, Report, optimize_with_report

OURS = REPO / "integration_tests" / "data"
STEPS = 8
CHOICES: dict[str, tuple[dict[str, Any], float]] = {
    "memory": (
        {"memory_mode": "heuristics", "device_memory": {"CPU": 1 << 14},
         "memory_optimizer_target_node_name_scope": "gradient"}, 1e-4,
    ),
    "layout": ({"cpu_layout_conversion": "nhwc_to_nchw"}, 1e-4),
    "bfloat16": ({"auto_mixed_precision_onednn_bfloat16": True}, 0.1),
    "float16": ({"auto_mixed_precision_cpu": True}, 0.02),
}  # fmt: skip


def runs() -> Iterator[Any]:
    """Model file, folder and training ref of every recorded run."""
    for path in sorted(OURS.glob("*/train.json")):
        ref = json.loads(path.read_text(encoding="utf-8"))
        yield pytest.param(path.parent, path.parent / "metagraph", ref, id=path.parent.name)
    for row in model_index():
        for ref in row["refs"]:
            if ref["kind"] == "train" and "steps" in ref:
                folder = MODELS / row["name"]
                yield pytest.param(folder, folder / row["file"], ref, id=f"{row['name']}-shared")


def losses(folder: Path, file: Path, ref: dict[str, Any], options: dict[str, Any]) -> Any:
    """What the first steps lose, and what they lost where it was recorded."""
    data = np.load(folder / ref["file"])
    config = OptimizerConfig(**options, fail_on_optimizer_errors=True)
    model = ds.Model(load_model(file), ds.SessionConfig(optimizer=config))
    found = []
    for k in range(min(STEPS, ref["steps"])):
        feeds = {ref["x"]: data["x"][k], ref["y"]: data["y"][k]}
        found.append(model.run([ref["loss"], ref["train_op"]], feeds)[0])
    return np.array(found), data["loss"][: len(found)]


@pytest.mark.cases_in_gate(4)
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(("folder", "file", "ref"), list(runs()))
def test_losses(folder: Path, file: Path, ref: dict[str, Any], choice: str) -> None:
    options, room = CHOICES[choice]
    found, wanted = losses(folder, file, ref, options)
    np.testing.assert_allclose(found, wanted, rtol=room)


def step(file: Path, ref: dict[str, Any], **options: Any) -> Report:
    """What is done to one step's graph."""
    graph, config = load_model(file).graph, OptimizerConfig(**options)
    feeds = [ref["x"], ref["y"]]
    return optimize_with_report(graph, [ref["loss"], ref["train_op"]], feeds, config)[1]


@pytest.mark.parametrize(("folder", "file", "ref"), list(runs()))
def test_plain_descent_of_two_replicas(folder: Path, file: Path, ref: dict[str, Any]) -> None:
    """Other rules see two smaller gradients, which is not the same."""
    options = {"auto_parallel": True, "auto_parallel_replicas": 2}
    report = step(file, ref, **options)
    done = next(s for s in report.steps if s.name == "auto_parallel" and not s.where)
    if ref["train_op"] != "GradientDescent":
        assert done.reason or done.rewrites
        return
    assert done.rewrites == {"replicas": 1}
    found, wanted = losses(folder, file, ref, options)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
