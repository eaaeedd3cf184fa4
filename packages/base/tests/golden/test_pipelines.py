"""Models that train from a pipeline of datasets in their graph: recorded losses, step by step."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pipeline_models as kept
import pytest

import drystone_base as ds

TOLERANCE = 1e-5


def check(got: list[float], name: str) -> None:
    """The losses are those that TensorFlow had."""
    want = np.load(kept.KEPT / f"{name}.npy")
    assert len(want) >= kept.META_GRAPH_STEPS
    np.testing.assert_allclose(got, want, rtol=TOLERANCE)


def test_a_meta_graph_trains_from_its_iterator() -> None:
    check(kept.run_meta_graph(kept.KEPT / "meta-graph"), "meta-graph")


def test_a_saved_model_trains_from_its_asset() -> None:
    check(kept.run_saved_model(kept.KEPT / "saved-model"), "saved-model")


def test_a_pipeline_may_not_read_outside_of_the_model(tmp_path: Path) -> None:
    folder: Any = tmp_path / "model"
    shutil.copytree(kept.KEPT / "saved-model", folder)
    asset = folder / "assets" / "rows.tfrecord"
    asset.rename(tmp_path / "rows.tfrecord")
    asset.symlink_to(tmp_path / "rows.tfrecord")
    train = ds.load(folder).signatures["train"]
    with pytest.raises(ds.DrystoneError, match="may not read") as caught:
        train(rate=kept.RATE)
    assert caught.value.status == "PERMISSION_DENIED"
