"""Timing that holds on a busy machine: interleaved rounds, medians, fresh processes."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Timing", "fed", "fresh", "interleaved", "timed"]

BESIDE = Path(__file__).resolve().parents[2]
"""The folder that holds the package `bench`."""


def fed(arrays: Path) -> dict[str, str]:
    """The tensors that an ``.npz`` file's arrays are fed to, with their keys; ``y`` is no input."""
    with np.load(arrays, allow_pickle=False) as data:
        return {f"{key}:0": key for key in data.files if key != "y"}


@dataclass(frozen=True)
class Timing:
    """What repeated runs of one thing took, in seconds."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.seconds)

    @property
    def least(self) -> float:
        """The fastest run."""
        return min(self.seconds)


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that one call takes, and what it returns."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def interleaved(
    functions: Mapping[str, Callable[[], Any]], *, seconds: float, most: int = 15, least: int = 3
) -> dict[str, Timing]:
    """Time each function in turn, round after round, so that a slow spell hits all alike.

    Each gets at least ``least`` rounds, then more until it has taken ``seconds`` or ``most`` rounds
    are over.
    """
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(most):
        for name, function in functions.items():
            if number < least or sum(taken[name]) < seconds:
                taken[name].append(timed(function)[0])
    return {name: Timing(tuple(values)) for name, values in taken.items()}


def fresh(module: str, *arguments: str | int | Path) -> dict[str, Any]:
    """The JSON that ``python -m module arguments`` prints last, run in a process of its own.

    A process that fails gives the line that says why as ``{"error": ...}``.
    """
    paths = [str(BESIDE), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line and not line[0].isspace()]
        return {"error": lines[-1] if lines else f"exit status {done.returncode}"}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
