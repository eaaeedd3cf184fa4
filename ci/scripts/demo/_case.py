"""A model of integration_tests/data with its recorded cases."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import drystone as ds

__all__ = ["Array", "Checked", "RecordedModel"]

Array: TypeAlias = np.ndarray[Any, Any]
DATA = Path(__file__).resolve().parents[3] / "integration_tests" / "data"


@dataclass(frozen=True)
class Checked:
    """How a model did on its recorded cases."""

    name: str
    load_seconds: float
    run_seconds: float
    difference: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether the largest difference is within what TensorFlow's own kernels differ by."""
        return self.difference <= self.tolerance


class RecordedModel:
    """A model, loaded, with the inputs and outputs that TensorFlow recorded for it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = DATA / name
        self.facts = json.loads((self.folder / "cases.json").read_text(encoding="utf-8"))
        start = time.perf_counter()
        self.model = ds.load(self.folder / self.facts["model"])
        self.load_seconds = time.perf_counter() - start

    @cached_property
    def recorded_inputs(self) -> dict[str, Array]:
        """Inputs of the first case by tensor name."""
        return self._arrays(self.facts["cases"][0]["inputs"])

    def _arrays(self, name: str) -> dict[str, Array]:
        with np.load(self.folder / name) as file:
            return dict(file)

    def check(self) -> Checked:
        """Run the recorded cases; the time is that of the last run."""
        worst, seconds = 0.0, 0.0
        for case in self.facts["cases"]:
            wanted, feeds = self._arrays(case["outputs"]), self._arrays(case["inputs"])
            start = time.perf_counter()
            got = self.model.run(list(wanted), feeds)
            seconds = time.perf_counter() - start
            worst = max(
                worst, *(difference(a, wanted[t]) for a, t in zip(got, wanted, strict=True))
            )
        return Checked(self.name, self.load_seconds, seconds, worst, self.facts["tolerance"])


def difference(got: Array, wanted: Array) -> float:
    """`max |a - b| / (|b| + std b)`; infinite for another shape or any different string."""
    if got.shape != wanted.shape:
        return float("inf")
    if wanted.dtype.kind in "SO":
        return 0.0 if got.astype("S").tolist() == wanted.tolist() else float("inf")
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    return float(np.max(np.abs(a - b) / (np.abs(b) + np.std(b) + 1e-12), initial=0.0))
