"""Networks and recorded models whose regions a plugin compiles, beside drystone's own kernels."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_subgraph import executables

TOP = Path(__file__).parents[4]
MODELS = TOP.parent / "shared" / "models"
sys.path.insert(0, str(TOP))

NETWORKS = pytest.importorskip("ci.scripts.gpu.networks", reason="the tools of the repository")


def recorded() -> list[dict[str, Any]]:
    """Rows of the models that have been run by TensorFlow, and how far its own kernels differ."""
    index = MODELS / "index.json"
    rows = json.loads(index.read_text())["models"] if index.exists() else []
    asked = [row for row in rows if row["format"] != "onnx"]
    return [row for row in asked if any(ref["kind"] != "train" for ref in row["refs"])]


ROWS = recorded()


def tolerance(row: dict[str, Any]) -> float:
    """1e-4, or four times the deviation among TensorFlow's kernels where that is wider."""
    deviations = [float(v[-1]) for d in row.get("fp32_dev") or [] for v in d.values()]
    return max([1e-4, *(4 * deviation for deviation in deviations)])


@pytest.mark.skipif(not ROWS, reason="the recorded data (shared/) is not beside the repository")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_a_recorded_model_computes_what_tensorflow_does(row: dict[str, Any]) -> None:
    config = ds.SessionConfig(subgraphs="pjrt")
    model = ds.load(MODELS / row["name"] / row["file"], config=config)
    ref = next(ref for ref in row["refs"] if ref["kind"] != "train")
    data = np.load(MODELS / row["name"] / ref["file"], allow_pickle=True)
    feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
    found = model.run(list(ref["outputs"]), feeds)
    for (tensor, key), value in zip(ref["outputs"].items(), found, strict=True):
        expected = data[key]
        if expected.dtype.kind not in "fc":
            np.testing.assert_array_equal(value, expected, err_msg=tensor)
            continue
        close = tolerance(row) * max(1.0, float(np.max(np.abs(expected), initial=0)))
        np.testing.assert_allclose(value, expected, rtol=0, atol=close, err_msg=tensor)


@pytest.mark.parametrize("name", sorted(NETWORKS.NETWORKS))
def test_a_network_is_one_region_and_right(name: str) -> None:
    network = NETWORKS.Network("float32")
    source, output = NETWORKS.NETWORKS[name](network, 1)
    fetch, feeds = f"{source.name}:{output}", NETWORKS.inputs(name, 1)
    answers = []
    for wish in ("off", "pjrt"):
        session = ds.Session(network.graph, ds.SessionConfig(subgraphs=wish))
        answers.append(np.asarray(session.run(fetch, feeds)))
    assert [(one.state, one.runs) for one in executables(session)] == [("ready", 1)]
    np.testing.assert_allclose(answers[1], answers[0], rtol=1e-3, atol=1e-3)
