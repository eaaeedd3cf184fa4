"""``python -m drystone`` and ``python -m drystone_base`` are the ``drystone`` command."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("package", ["drystone", "drystone_base"])
def test_a_package_runs_as_the_command(package: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", package, "--help"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: drystone [OPTIONS] COMMAND [ARGS]...")
    refused = subprocess.run(
        [sys.executable, "-m", package, "run", "nowhere.pb"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (refused.returncode, "[file-not-found]" in refused.stderr) == (3, True)
