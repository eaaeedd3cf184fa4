"""Real models: load, first answer and memory in fresh processes; run time in interleaved rounds."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench._measure import BESIDE, fresh, interleaved
from bench._report import Column, Report, mb, number, span, text

__all__ = ["Recorded", "models", "run"]

REPOSITORY = BESIDE.parents[1]
SHARED = REPOSITORY.parent / "shared" / "models"
SMALL = REPOSITORY / "integration_tests" / "data"


@dataclass(frozen=True)
class Recorded:
    """A model file and its first recorded case: what to feed and what to fetch."""

    name: str
    file: Path
    case: Path
    inputs: dict[str, str]
    outputs: list[str]

    def feeds(self) -> dict[str, np.ndarray[Any, Any]]:
        """The recorded inputs by tensor name."""
        with np.load(self.case, allow_pickle=False) as data:
            return {tensor: data[key] for tensor, key in self.inputs.items()}


def models() -> list[Recorded]:
    """Recorded models beside the repository where present, else those that it holds."""
    return list(_shared() if (SHARED / "index.json").exists() else _small())


def _shared() -> Iterator[Recorded]:
    for row in json.loads((SHARED / "index.json").read_text(encoding="utf-8"))["models"]:
        ref = row["refs"][0]
        if row["format"] != "onnx" and ref["kind"] != "train":
            folder = SHARED / row["name"]
            yield _recorded(row["name"], folder, row["file"], ref)


def _small() -> Iterator[Recorded]:
    for cases in sorted(SMALL.glob("*/cases.json")):
        folder, found = cases.parent, json.loads(cases.read_text(encoding="utf-8"))
        case = found["cases"][0]
        with np.load(folder / case["inputs"]) as inputs:
            names = {tensor: tensor for tensor in inputs.files}
        file, arrays = folder / found["model"], folder / case["inputs"]
        yield Recorded(folder.name, file, arrays, names, case["fetches"])


def _recorded(name: str, folder: Path, file: str, case: dict[str, Any]) -> Recorded:
    return Recorded(name, folder / file, folder / case["file"], case["inputs"],
                    list(case["outputs"]))  # fmt: skip


def run(quick: bool) -> Report:
    """Load, first answer and peak memory per model (fresh processes), and run time, here."""
    chosen = models()
    rows = {model.name: _fresh_row(model, 1 if quick else 3) for model in chosen}
    calls: dict[str, Callable[[], Any]] = {}
    for model in chosen:
        if "error" not in rows[model.name]:
            calls[model.name] = _call(model)
    timings = interleaved(calls, seconds=0.2 if quick else 3.0, most=3 if quick else 15)
    for name, timing in timings.items():
        rows[name] |= {"run_s": timing.median, "least_s": timing.least,
                       "runs": len(timing.seconds)}  # fmt: skip
    columns = [
        Column("model", "model", text), Column("nodes", "nodes", number),
        Column("load_s", "load", span), Column("first_s", "first run", span),
        Column("answer_s", "process to answer", span), Column("run_s", "run", span),
        Column("least_s", "least", span), Column("runs", "runs", number),
        Column("rss", "memory, peak", mb),
    ]  # fmt: skip
    where = SHARED if (SHARED / "index.json").exists() else SMALL
    note = f"first recorded cases of {where.relative_to(REPOSITORY.parent)}, reference executor"
    return Report("models", "Models", columns, list(rows.values()), [note])


def _fresh_row(model: Recorded, processes: int) -> dict[str, Any]:
    found = [_first_answer(model) for _ in range(processes)]
    bad = next((one for one in found if "error" in one), None)
    if bad:
        return {"model": model.name, **bad}
    return {"model": model.name} | {k: statistics.median(one[k] for one in found) for k in found[0]}


def _first_answer(model: Recorded) -> dict[str, Any]:
    given = {"file": str(model.file), "case": str(model.case), "inputs": model.inputs,
             "outputs": model.outputs, "started": time.time()}  # fmt: skip
    return fresh("bench._first_answer", json.dumps(given))


def _call(model: Recorded) -> Callable[[], Any]:
    """A prepared call of the model on its recorded case, run once."""
    import drystone_base as ds

    feeds = model.feeds()
    prepared = ds.load(model.file).session.make_callable(model.outputs, list(feeds))
    values = list(feeds.values())
    prepared(*values)
    return lambda: prepared(*values)
