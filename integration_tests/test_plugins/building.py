"""Build plugin projects into wheels, and see what an environment makes of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from integration_tests.support import InstalledEnv, remove

__all__ = ["VARIABLES", "build", "build_output", "states", "uninstall"]

VARIABLES = ("DRYSTONE_DEVELOPER_MODE=1", f"PATH={os.environ['PATH']}")
"""For `env`: plugins under test are not signed."""


def build(project: Path, wheels: list[Path], folder: Path) -> Path:
    """A wheel of a copy of a project, built with what its pyproject.toml asks for."""
    status, printed = build_output(project, wheels, folder)
    assert status == 0, printed
    (wheel,) = folder.glob("*.whl")
    return wheel


def build_output(
    project: Path, wheels: list[Path], folder: Path, env: InstalledEnv | None = None
) -> tuple[int, str]:
    """Status and output of a build, with the commands of ``env`` where one is given."""
    source = folder / "source"
    shutil.copytree(project, source)
    links = ["--find-links", str(wheels[0].parent)]
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-deps", *links, "-w", str(folder)]
    uv = shutil.which("uv")
    if uv:
        # A rebuilt wheel has its old version: uv must not take another build of it from its cache.
        fresh = ["--refresh-package", "drystone-plugin-abi"]
        command = [uv, "build", "--wheel", *fresh, *links, "-o", str(folder)]
    settings = dict(os.environ)
    if env is not None:
        settings["PATH"] = f"{env.scripts}{os.pathsep}{settings['PATH']}"
    words = [*command, str(source)]
    done = subprocess.run(words, capture_output=True, text=True, env=settings, check=False)
    return done.returncode, done.stdout + done.stderr


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
    remove(env, wheel.name.split("-")[0])
