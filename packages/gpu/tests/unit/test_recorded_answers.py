"""What TensorFlow answered, on the device that the processor stands for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "recorded_answers.py"
pytestmark = pytest.mark.nightly
"""All of the plugin is compiled for it; a change to it runs `package -- gpu`."""


def test_the_device_answers_and_refuses_as_tensorflow_does(
    library: Path, environment: dict[str, str]
) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(library)], capture_output=True, text=True, check=False,
        env={**environment, "DRYSTONE_GPU_DEVICE": "host"}, timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["wrong"] == 0
    assert counts["golden"] + counts["random"] > 3000
