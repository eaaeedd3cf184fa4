"""The suite for plugins' transports holds for ours, too: what all promise is tried there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from drystone_network.transports.registry import own_file

pytest.importorskip("drystone_conformance", reason="drystone-plugin-conformance is not installed")

QUICK: Final = "not many_small and not 67108864"
"""Without those that take seconds, which `nox -s conformance` runs."""


def test_our_transports_conform(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", QUICK]
    command += ["--pyargs", "drystone_conformance.suites.test_network"]
    command += ["--plugin", str(own_file("libdrystone_net.so")), "--plugin-report", str(report)]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=200,
        env=os.environ | {"DRYSTONE_PLUGIN_POLICY": "allow_unverified"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert json.loads(report.read_text("utf-8"))["counts"]["passed"] >= 3 * 15
