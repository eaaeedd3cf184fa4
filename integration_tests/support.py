"""What integration tests hold in their hands: an environment with the built wheels in it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

__all__ = ["DATA", "InstalledEnv", "install", "make_environment", "remove", "shared_environment"]

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class InstalledEnv:
    """An environment that holds the wheels under test and what they depend on."""

    root: Path

    @property
    def scripts(self) -> Path:
        """Folder of its executables."""
        return self.root / ("Scripts" if os.name == "nt" else "bin")

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.scripts / f"python{sysconfig.get_config_var('EXE')}"

    @property
    def drystone(self) -> Path:
        """The `drystone` command that the wheels installed."""
        return self.scripts / f"drystone{sysconfig.get_config_var('EXE')}"

    def run(
        self, *command: str | Path, ok: bool = True, cwd: Path | None = None, timeout: float = 600
    ) -> subprocess.CompletedProcess[str]:
        """Run a command without the variables that would leak a source tree into it.

        With `ok`, a non-zero status fails the test and shows what was printed.
        """
        leaks = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        settings = {name: value for name, value in os.environ.items() if name not in leaks}
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            env=settings,
            cwd=cwd or self.root,
            timeout=timeout,
            check=False,
        )
        if ok and done.returncode:
            pytest.fail(f"{command} gave {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def run_drystone(self, *arguments: str | Path, ok: bool = True) -> str:
        """Standard output of `drystone ARGUMENTS`."""
        return self.run(self.drystone, *arguments, ok=ok).stdout

    def evaluate(self, program: str) -> Any:
        """Run a program in a fresh interpreter and parse the JSON it prints on its last line."""
        done = self.run(self.python, "-I", "-c", program)
        return json.loads(done.stdout.splitlines()[-1])


def make_environment(root: Path) -> InstalledEnv:
    """A new, empty virtual environment of the running Python."""
    uv = shutil.which("uv")
    maker = [uv, "venv", "-q", "--python"] if uv else []
    subprocess.run([*maker, sys.executable, *([] if uv else ["-m", "venv"]), root], check=True)
    return InstalledEnv(root)


def shared_environment(
    factory: pytest.TempPathFactory, name: str, *arguments: str | Path
) -> InstalledEnv:
    """The environment of that name, made once for all workers of a run, with what `arguments` name.

    Tests change nothing in it: others use it meanwhile.
    """
    base = factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"env-{name}"
    made = root.with_suffix(".made")
    with root.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            install(make_environment(root), *arguments)
            made.touch()
    return InstalledEnv(root)


def install(environment: InstalledEnv, *arguments: str | Path) -> None:
    """Install into the environment, with uv where there is one.

    Without drystone-cpu, which the metapackage pins, that is installed as it is.
    """
    given = [Path(one).name for one in arguments]
    meta = [one for one in arguments if Path(one).name.startswith("drystone-")]
    if meta and not any(name.startswith("drystone_cpu-") for name in given):
        install(environment, *(one for one in arguments if one not in meta))
        arguments = ("--no-deps", *meta)
    uv = shutil.which("uv")
    tool: list[str | Path] = [environment.python, "-m", "pip", "install", "-q"]
    if uv:
        tool = [uv, "pip", "install", "-q", "--python", environment.python]
    subprocess.run([*tool, *arguments], check=True)


def remove(environment: InstalledEnv, *names: str) -> None:
    """Uninstall distributions, with uv where there is one."""
    uv = shutil.which("uv")
    tool: list[str | Path] = [environment.python, "-m", "pip", "uninstall", "-q", "-y"]
    if uv:
        tool = [uv, "pip", "uninstall", "-q", "--python", environment.python]
    subprocess.run([*tool, *names], check=True)
