"""The tests of calls, in a process of their own: an op that a plugin defines stays defined."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2]


@pytest.mark.nightly
def test_compiled_functions_are_called() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    paths = os.pathsep.join(filter(None, (str(PACKAGE / "src"), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [*command, str(PACKAGE / "tests" / "calls")],
        env=os.environ | {"DRYSTONE_DEVELOPER_MODE": "1", "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
