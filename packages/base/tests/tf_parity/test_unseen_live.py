"""A few of the graphs of ci/scripts/unseen.py, made by TensorFlow and run by both."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")

SCRIPT = Path(__file__).parents[4] / "ci" / "scripts" / "unseen.py"
SOME = ("transformer_decoder", "text_classifier", "signal_features", "kalman_filter",
        "averaged_training", "two_tag_sets", "MobileNetV3Small")  # fmt: skip


@pytest.mark.parametrize("name", SOME)
def test_runs_and_agrees(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), name], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert f"| {name} |" in done.stdout
