"""Recorded training graphs: losses step by step, then every variable and the prediction.

Graphs of ``shared/`` are tested when they are beside the repository; small ones are always.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import difference
from shared_data import MODELS, REPO, WHY_NOT, model_index

import drystone_base as ds

pytestmark = pytest.mark.cases_in_gate(2)

TOLERANCE = 1e-4
OURS = REPO / "integration_tests" / "data"

# What TensorFlow itself differs from the recording by, in the same measure, where that is more
# than a quarter of the tolerance: the worse of its plain and of its oneDNN kernels, on another
# machine. Batch norm takes the mean out of what follows `c1b`, so the gradient of `c1b` is nothing
# but rounding errors, which Adam scales up to whole steps; `moving_mean` sees `c1b`. The gradient
# of `beta` in front of a ReLU jumps when a sum that is almost 0 rounds to the other side.
THEIRS = {
    "c1b": 1.42,
    "c1b/Adam": 1.66,
    "c1b/Adam_1": 0.298,
    "moving_mean": 3.04e-2,
    "beta": 4.88e-4,
    "beta/Adam": 1.40e-3,
    "beta/Adam_1": 1.87e-4,
    "c1/Adam": 3.47e-4,
    "c1/Adam_1": 1.33e-4,
    "dw/Adam": 7.94e-5,
    "dw/Adam_1": 2.88e-5,
}


def bound(model: str, variable: str) -> float:
    """The tolerance, or four times what TensorFlow's own kernels differ by."""
    theirs = THEIRS.get(variable, 0.0) if model.startswith("train-cnn-") else 0.0
    return max(TOLERANCE, 4 * theirs)


def shared(*, steps: bool) -> Iterator[Any]:
    """Folder, model file and training ref of every recorded training run."""
    for row in model_index():
        for ref in row["refs"]:
            if ref["kind"] == "train" and ("steps" in ref) == steps:
                folder = MODELS / row["name"]
                yield pytest.param(folder, folder / row["file"], ref, id=row["name"])


def kept() -> Iterator[Any]:
    """The same of the runs in the repository."""
    for path in sorted(OURS.glob("*/train.json")):
        ref = json.loads(path.read_text(encoding="utf-8"))
        yield pytest.param(path.parent, path.parent / "metagraph", ref, id=path.parent.name)


RUNS = [*kept(), *shared(steps=True)]
FEED_ONCE = list(shared(steps=False))


def variables(model: ds.Model) -> dict[str, np.ndarray[Any, Any]]:
    """Values by name."""
    return {name: v.read() for name, v in model.session.resources.items("variable")}


def test_there_are_runs() -> None:
    assert len(list(kept())) >= 3


@pytest.mark.skipif(not FEED_ONCE, reason=WHY_NOT)
def test_the_shared_runs_are_here() -> None:
    assert len(RUNS) - len(list(kept())) >= 11


@pytest.mark.parametrize(("folder", "file", "ref"), RUNS)
def test_losses_step_by_step(folder: Path, file: Path, ref: dict[str, Any]) -> None:
    data = np.load(folder / ref["file"])
    model = ds.load(file)
    assert len(data["loss"]) == ref["steps"]
    for k, want in enumerate(data["loss"]):
        feeds = {ref["x"]: data["x"][k], ref["y"]: data["y"][k]}
        loss, _ = model.run([ref["loss"], ref["train_op"]], feeds)
        assert abs(loss - want) <= TOLERANCE * abs(want), f"step {k}: {loss}, recorded {want}"
    got = variables(model)
    for name, key in ref["variables"].items():
        worst = difference(got[name], data[key])
        assert worst <= bound(folder.name, name), f"{name} differs by {worst:.3g}"
    if "pred" in ref:
        predicted = model.run(ref["pred"], {ref["x"]: data["x"][0]})
        assert difference(predicted, data["pred_after"]) <= TOLERANCE


@pytest.mark.parametrize(("folder", "file", "ref"), RUNS)
def test_the_initializer_gives_the_restored_values(
    folder: Path, file: Path, ref: dict[str, Any]
) -> None:
    model = ds.load(file)
    restored = variables(model)
    assert restored
    assert set(restored) >= set(ref["variables"])
    fresh = ds.Session(model.graph)
    fresh.run(ref["init_op"])
    for name, variable in fresh.resources.items("variable"):
        np.testing.assert_array_equal(variable.read(), restored[name], err_msg=name)


@pytest.mark.skipif(not FEED_ONCE, reason=WHY_NOT)
@pytest.mark.parametrize(("folder", "file", "ref"), FEED_ONCE)
def test_steps_from_a_trained_checkpoint(folder: Path, file: Path, ref: dict[str, Any]) -> None:
    """A whole training MetaGraph: restored, then three steps on the same feed."""
    data = np.load(folder / ref["file"])
    model = ds.load(file)
    feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
    losses = [model.run(ref["loss"], feeds)]
    for _ in range(3):
        model.run(ref["train_op"], feeds)
        losses.append(model.run(ref["loss"], feeds))
    held = variables(model)
    for what, key in ref["outputs"].items():
        if what.startswith("loss"):
            got = np.asarray(losses)
        elif what.startswith("var:"):
            got = held[what.removeprefix("var:").rpartition(":")[0]]
        else:
            got = model.run("model/Sigmoid:0", feeds)
        assert difference(got, data[key]) <= TOLERANCE, what
