"""Programs in Python processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["run_program"]


def run_program(code: str, folder: Path | None = None, **environment: str) -> str:
    """What a program prints that finds the same modules as this process.

    It runs in ``folder``, which comes first in its path. Fails with what it says where it fails.
    """
    path = [str(folder)] if folder is not None else []
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([*path, *filter(None, sys.path)])}
        | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
