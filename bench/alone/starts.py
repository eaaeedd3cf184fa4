"""What fresh processes do on the way to their first answer, stage by stage.

``python -m bench.alone.starts MODEL ...``: of each model, the medians over processes that find
nothing of an earlier one, and of later ones, which find what was kept. A model is a folder of the
recorded ones, with its ``info.json``, or ``GRAPH.pb,IN.npz,FETCH``, where arrays are fed to the
tensors of their names. Milliseconds of wall time; ``DRYSTONE_NUM_THREADS`` counts (1 by default).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.alone._measure import fed
from bench.alone._report import Column, Report, show, text

__all__ = ["STAGES", "main", "stages"]

STAGES = ("python", "numpy", "import", "load", "plan", "answer", "total")
"""What a process does, in order; the plan is made by `make_callable`."""

PROGRAM = """import json, sys, time
marks, work = [time.time()], json.loads(sys.argv[1])
import numpy as np
marks.append(time.time())
import drystone as ds
_ = ds.Session
marks.append(time.time())
with np.load(work["arrays"], allow_pickle=False) as data:
    values = [data[key] for key in work["inputs"].values()]
marks.append(time.time())
model = ds.load(work["model"])
marks.append(time.time())
call = model.session.make_callable(work["outputs"], list(work["inputs"]))
marks.append(time.time())
call(*values)
marks.append(time.time())
print(json.dumps(marks))"""


def main(arguments: list[str] | None = None) -> int:
    """Print a table with two rows for each model."""
    parser = argparse.ArgumentParser(
        prog="bench.alone.starts", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--processes", type=int, default=15, help="of each kind (15)")
    options = parser.parse_args(arguments)
    columns = [Column("model", "from process start to first answer, ms", text)]
    columns += [Column(stage, stage, _milliseconds) for stage in STAGES]
    report = Report("starts", "Starts of processes", columns)
    console = Console(width=None if Console().is_terminal else 120)
    for spec in options.models:
        with console.status(f"measuring: {spec}"):
            report.rows += stages(spec, options.processes)
    show(console, report)
    return 0


def stages(spec: str, processes: int) -> list[dict[str, Any]]:
    """The medians of a model's first processes and of later ones, which take turns."""
    work, name = _work(spec)
    first, later = [], []
    with tempfile.TemporaryDirectory(prefix="drystone-plans-") as kept:
        _process(work, kept)
        for _ in range(processes):
            with tempfile.TemporaryDirectory(prefix="drystone-plans-") as empty:
                first.append(_process(work, empty))
            later.append(_process(work, kept))
    rows = {f"{name}, a first process": first, f"{name}, a later process": later}
    return [
        {"model": kind, **{s: statistics.median(row[s] for row in taken) for s in STAGES}}
        for kind, taken in rows.items()
    ]


def _work(spec: str) -> tuple[dict[str, Any], str]:
    """What a process is told, and the model's name."""
    if spec.count(",") == 2:
        model, arrays, fetch = spec.split(",")
        inputs = fed(Path(arrays))
        told = {"model": model, "arrays": arrays, "inputs": inputs, "outputs": [fetch]}
        return told, Path(model).stem
    folder = Path(spec)
    info = json.loads((folder / "info.json").read_text(encoding="utf-8"))
    case = info["refs"][0]
    told = {"model": str(folder / info["file"]), "arrays": str(folder / case["file"]),
            "inputs": case["inputs"], "outputs": list(case["outputs"])}  # fmt: skip
    return told, folder.name


def _process(work: dict[str, Any], plans: str) -> dict[str, float]:
    """Seconds of each stage of one process, with plans in that folder."""
    threads = {"DRYSTONE_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = {**threads, **os.environ, "DRYSTONE_PLAN_CACHE": plans}
    start = time.time()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(work)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    begun, numpy, ours, read, loaded, planned, answered = json.loads(done.stdout)
    found = {"python": begun - start, "numpy": numpy - begun, "import": ours - numpy}
    found |= {"load": loaded - read, "plan": planned - loaded, "answer": answered - planned}
    return {**found, "total": sum(found.values())}


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.1f}"


if __name__ == "__main__":
    raise SystemExit(main())
