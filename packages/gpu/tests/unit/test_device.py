"""The device with kernels as loops of the processor: what is placed there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[4]
MODELS = TOP.parent / "shared" / "models"
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1000)]
"""All of the plugin is compiled for it; a change to it runs `package -- gpu`."""


def test_ops_models_and_training_on_the_device(
    library: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """Ops beside the reference kernels, and what was recorded of TensorFlow where it is there."""
    arguments = [
        "--library",
        str(library),
        "--part",
        "device",
        "--output",
        str(tmp_path / "it.json"),
    ]
    if MODELS.exists():
        arguments += ["--models", str(MODELS)]
    host = {**environment, "DRYSTONE_GPU_DEVICE": "host"}
    command = [sys.executable, "-W", "ignore", "-m", "ci.scripts.gpu", *arguments]
    done = subprocess.run(command, env=host, capture_output=True, text=True, timeout=900, cwd=TOP,
                          check=False)  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = json.loads((tmp_path / "it.json").read_text(encoding="utf-8"))["device"]
    assert found["problems"] == {}
    assert found["op_cases"] - found["on_host"] > 850
    assert all(row["kernels"] for row in found["models"])
