"""Empty environments, installers that know one index and its past, and models to run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ci.scripts.project import ROOT

__all__ = ["MODELS", "Environment", "Failure"]

DATA = ROOT / "integration_tests" / "data"
MODELS = ("facemesh", "gen-controlflow-v1")
"""Recorded models: layers of convolutions, and loops with gradients."""


class Failure(Exception):
    """What a simulated user would report."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    root: Path

    @classmethod
    def make(cls, root: Path, *, seed: bool = False) -> Environment:
        """A new environment of the running Python, with pip where `seed`."""
        shutil.rmtree(root, ignore_errors=True)
        command = ["uv", "venv", "-q", "--python", sys.executable, *(["--seed"] if seed else [])]
        subprocess.run([*command, str(root)], check=True)
        return cls(root)

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.root / "bin" / "python"

    def run(self, *command: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment, without what leads to a source tree."""
        left_out = ("PYTHONPATH", "VIRTUAL_ENV", "DRYSTONE_DEVELOPER_MODE")
        settings = {k: v for k, v in os.environ.items() if k not in left_out}
        settings["PATH"] = f"{self.root / 'bin'}{os.pathsep}{settings['PATH']}"
        settings |= {"DRYSTONE_PLAN_CACHE": "off", "UV_LINK_MODE": "hardlink"}
        return subprocess.run(
            command,
            env=settings,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def uv(self, *words: str, index: str = "") -> subprocess.CompletedProcess[str]:
        """`uv pip install`, with an index that comes before the others."""
        where = ("--index", index, "--index-strategy", "first-index") if index else ()
        fixed = ("uv", "pip", "install", "-q", "--python", str(self.python), "--no-progress")
        return self.run(*fixed, *where, "--refresh-package", "drystone", *words)

    def pip(self, *words: str, index: str) -> subprocess.CompletedProcess[str]:
        """`pip install` from that index alone: libraries are there already."""
        fixed = (
            "python",
            "-m",
            "pip",
            "install",
            "-q",
            "--isolated",
            "--no-input",
            "--no-cache-dir",
        )
        return self.run(*fixed, "--index-url", index, *words)

    def versions(self) -> dict[str, str]:
        """Versions of what is installed of ours."""
        program = (
            "import json\nfrom importlib.metadata import distributions\n"
            "print(json.dumps({d.name: d.version for d in distributions()}))"
        )
        done = self.run("python", "-I", "-c", program)
        found: dict[str, str] = json.loads(done.stdout)
        return {name: version for name, version in found.items() if name.startswith("drystone")}

    def run_models(self) -> None:
        """Run two models; raises `Failure` with what was printed."""
        for name in MODELS:
            done = self.run("drystone", "run", str(DATA / name))
            if done.returncode:
                raise Failure(f"model {name} does not run: {done.stderr.strip()}")
