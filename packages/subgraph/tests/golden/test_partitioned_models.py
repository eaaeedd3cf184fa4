"""Every recorded inference case of every shared model, with all that can be in regions in them."""

from typing import Any

import numpy as np
import pytest
from oracle import difference
from shared_data import MODELS, WHY_NOT, inference_models, tolerance

import drystone_base as ds

ROWS = inference_models()


@pytest.mark.cases_in_gate(3)
@pytest.mark.skipif(not ROWS, reason=WHY_NOT)
@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["name"])
@pytest.mark.parametrize("optimizer", ["default", "off"])
def test_model(row: dict[str, Any], optimizer: str) -> None:
    config = ds.SessionConfig(subgraphs="default", optimizer=optimizer)
    model = ds.load(MODELS / row["name"] / row["file"], config=config)
    ref = next(ref for ref in row["refs"] if ref["kind"] != "train")
    data = np.load(MODELS / row["name"] / ref["file"], allow_pickle=True)
    feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
    got = model.run(list(ref["outputs"]), feeds)
    for (tensor, key), value in zip(ref["outputs"].items(), got, strict=True):
        worst = difference(np.asarray(value), data[key])
        assert worst <= tolerance(row), f"{ref['file']} {tensor}: differs by {worst:.3g}"
