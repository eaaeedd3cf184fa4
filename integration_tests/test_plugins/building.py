"""Build plugin projects into wheels, and see what an environment makes of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from integration_tests.support import InstalledEnv

__all__ = ["VARIABLES", "build", "states", "uninstall"]

VARIABLES = ("DRYSTONE_DEVELOPER_MODE=1", f"PATH={os.environ['PATH']}")
"""For `env`: plugins under test are not signed."""


def build(project: Path, wheels: list[Path], folder: Path) -> Path:
    """A wheel of a copy of a project, built with what its pyproject.toml asks for."""
    source = folder / "source"
    shutil.copytree(project, source)
    links = ["--find-links", str(wheels[0].parent)]
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *links, "-w", str(folder)]
    uv = shutil.which("uv")
    if uv:
        # A rebuilt wheel has its old version: uv must not take another build of it from its cache.
        fresh = ["--refresh-package", "drystone-plugin-abi"]
        command = [uv, "build", "--wheel", *fresh, *links, "-o", str(folder)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def states(env: InstalledEnv) -> list[str]:
    """What becomes of the plugins that are installed: loaded, refused, ..."""
    program = (
        "import json; from drystone_base import plugins; plugins.ensure_loaded(); "
        "print(json.dumps([plugin.state for plugin in plugins.report().plugins]))"
    )
    done = env.run("env", *VARIABLES, env.python, "-I", "-c", program)
    found: list[str] = json.loads(done.stdout)
    return found


def uninstall(env: InstalledEnv, wheel: Path) -> None:
    """Take out what the wheel installed."""
    tool: list[str | Path] = [env.python, "-m", "pip", "uninstall", "-q", "-y"]
    uv = shutil.which("uv")
    if uv:
        tool = [uv, "pip", "uninstall", "-q", "--python", env.python]
    subprocess.run([*tool, wheel.name.split("-")[0]], check=True)
