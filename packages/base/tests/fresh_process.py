"""Programs in Python processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

__all__ = ["run_program", "seldom"]


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


def seldom(*values: Any) -> list[Any]:
    """Parameters that are tried at night: each takes a process, and others are of their kind."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]
