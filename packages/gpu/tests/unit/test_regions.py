"""Regions with kernels as loops of the processor; and a machine without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[4]
pytestmark = pytest.mark.nightly
"""All of the plugin is compiled for it; a change to it runs `package -- gpu`."""


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process of Python."""
    command = [sys.executable, "-W", "ignore", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300,
                          cwd=TOP, check=False)  # fmt: skip


@pytest.fixture(scope="module")
def report(
    library: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What the script for GPUs finds of values, where the processor computes."""
    file = tmp_path_factory.mktemp("gpu") / "values.json"
    host = {**environment, "DRYSTONE_GPU_DEVICE": "host"}
    arguments = ("--library", str(library), "--part", "values", "--output", str(file))
    done = run(host, "-m", "ci.scripts.gpu", *arguments)
    assert file.exists(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def test_every_op_and_graph_gives_what_the_reference_gives(report: dict[str, Any]) -> None:
    assert report["values"]["problems"] == {}
    assert report["values"]["op_cases"] > 800
    assert report["values"]["graphs"] > 70


def test_the_report_says_what_computed(report: dict[str, Any]) -> None:
    assert report["gpu"] == {"devices": 1, "name": "the processor, in place of a GPU"}


def test_without_a_gpu_it_is_skipped_and_says_why(
    library: Path, environment: dict[str, str]
) -> None:
    program = (
        "import sys, json, warnings; warnings.simplefilter('error')\n"
        "from drystone_base.core.errors import BadRequest, PluginError\n"
        "from drystone_base.plugins import load_library, report\n"
        "from drystone_subgraph import find_backend\n"
        "try: load_library(sys.argv[1], policy='allow_unverified')\n"
        "except PluginError as error: assert '0 devices' in error.found\n"
        "(plugin,) = report().named('gpu')\n"
        "try: find_backend('gpu')\n"
        "except BadRequest as error: said = str(error)\n"
        "print(json.dumps([plugin.state, plugin.reason, plugin.text, said]))\n"
    )
    done = run(environment, "-c", program, str(library))
    assert done.returncode == 0, done.stderr
    state, reason, text, said = json.loads(done.stdout)
    assert (state, reason) == ("skipped", "plugin-not-available")
    assert text.endswith(": 0 devices: this library was built without CUDA")
    assert f"plugin gpu, skipped: {text}" in said
    assert "drystone plugins explain gpu" in said


def test_without_a_gpu_the_script_has_a_status_of_its_own(
    library: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    arguments = ("--library", str(library), "--output", str(tmp_path / "gpu.json"))
    done = run(environment, "-m", "ci.scripts.gpu", *arguments)
    assert done.returncode == 3
    assert "no GPU to run on: plugin-not-available: " in done.stderr
    assert "0 devices: this library was built without CUDA" in done.stderr
    assert not (tmp_path / "gpu.json").exists()
