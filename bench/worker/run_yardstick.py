"""No runtime: work that takes as long on every night, which a case's time is compared with.

It gives the recorded answers. Models are compared with products of matrices by NumPy, all else with
steps of Python, so that what a machine is slower at is slower for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.worker._form import Array, Prepared

__all__ = ["prepare", "start"]

SIDE, STEPS = 192, 2000


def start() -> None:
    """There is nothing to import."""


def prepare(case: Mapping[str, Any], threads: int) -> Prepared:
    """The work for the case's group; threads are those of the environment."""
    del threads
    with np.load(case["answers"] or case["arrays"], allow_pickle=False) as data:
        answers = [data[key] for key in case["outputs"].values()]
    work = _product if case["group"] == "models" else _steps

    def call(*_: Array) -> list[Array]:
        work()
        return answers

    return call, None


_MATRIX = np.random.default_rng(0).random((SIDE, SIDE), np.float32)


def _product() -> None:
    _MATRIX @ _MATRIX


def _steps() -> None:
    total = 0
    for step in range(STEPS):
        total += step & 7
