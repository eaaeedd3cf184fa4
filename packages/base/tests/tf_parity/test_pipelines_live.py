"""Models that train from a pipeline in their graph, written and run by TensorFlow here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pipeline_models as made
import pytest

tf: Any = pytest.importorskip(
    "tensorflow", reason="tensorflow is not installed; run nox -s tf_parity"
)


@pytest.mark.parametrize(
    ("build", "run"),
    [
        (made.build_meta_graph, made.run_meta_graph),
        (made.build_saved_model, made.run_saved_model),
    ],
)
def test_losses(build: Callable[..., Any], run: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    want = build(tf, folder)
    np.testing.assert_allclose(run(folder), want, rtol=1e-5)
