"""Compilers that are programs of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import Final

__all__ = ["run"]

_MOST_TEXT: Final = 2000
_OURS: Final = "LD_PRELOAD"
"""What is loaded into this process before all else, such as a sanitizer, is none of theirs."""


def run(command: Sequence[str]) -> None:
    """Run a compiler; raises ``RuntimeError`` with the end of what it says where it fails."""
    variables = {name: value for name, value in os.environ.items() if name != _OURS}
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, env=variables
    )
    if done.returncode:
        said = (done.stderr or done.stdout)[-_MOST_TEXT:]
        raise RuntimeError(f"{command[0]} failed with {done.returncode}: {said}")
