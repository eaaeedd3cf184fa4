"""Recorded models, a few steps each: the answers are TensorFlow's."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.case import Case as Recorded
from bench.cases.recorded import recorded
from bench.worker._answers import worst
from ci.nightly.suite import Case, Figures, Place, Wrong

__all__ = ["TITLE", "cases", "run_model"]

TITLE = "Curated models"
STEPS = 3


def cases(_: Place) -> list[Case]:
    """One for each model: those beside the checkout, or else those of the repository."""
    return [Case(one.name, partial(_run, one)) for one in recorded(None)]


def _run(one: Recorded, _: Place) -> Figures:
    return run_model(one)


def run_model(one: Recorded) -> Figures:
    """Load a model and take some steps; milliseconds of the last one, and the largest error."""
    import drystone as ds

    began = time.perf_counter()
    with ds.load(str(one.file)) as model, np.load(one.arrays, allow_pickle=False) as arrays:
        fed = {name: arrays[key] for name, key in one.inputs.items()}
        loaded = time.perf_counter() - began
        wanted = _wanted(one)
        if one.train_op:
            error, last = _train(model, one, fed, wanted[0])
        else:
            error, last = _infer(model, one, fed, wanted)
    if not error <= one.tolerance:
        raise Wrong(f"off by {error:.2g}, where {one.tolerance:.2g} is allowed")
    return {"ms": 1e3 * last, "load ms": 1e3 * loaded, "error": error}


def _wanted(one: Recorded) -> list[Any]:
    with np.load(one.answers or one.arrays, allow_pickle=False) as data:
        return [data[key] for key in one.outputs.values()]


def _infer(
    model: Any, one: Recorded, fed: dict[str, Any], wanted: Sequence[Any]
) -> tuple[float, float]:
    """The largest error of some runs, all of which are compared, and seconds of the last."""
    error = last = 0.0
    for _ in range(STEPS):
        start = time.perf_counter()
        found = model.run(list(one.outputs), fed)
        last = time.perf_counter() - start
        error = max(error, worst(found, list(wanted)))
    return error, last


def _train(model: Any, one: Recorded, fed: dict[str, Any], losses: Any) -> tuple[float, float]:
    """The largest error of the first losses, as a share, and seconds of the last step."""
    error = last = 0.0
    model.run(one.init_op)
    for step in range(STEPS):
        start = time.perf_counter()
        batch = {name: array[step] for name, array in fed.items()}
        loss = float(model.run([*one.outputs, one.train_op], batch)[0])
        last = time.perf_counter() - start
        if not math.isfinite(loss):
            return math.inf, last
        error = max(error, abs(loss - float(losses[step])) / abs(float(losses[step])))
    return error, last
