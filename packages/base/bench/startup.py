"""Import time in fresh processes, beside NumPy and the peers that are installed."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from importlib.util import find_spec

from bench._report import Column, Report, number, ratio, span, text

__all__ = ["TARGET", "run"]

TARGET = 0.12
"""Seconds that a warm ``import drystone`` may take."""

STATEMENTS = {
    "numpy": "import numpy",
    "drystone_base": "import drystone_base",
    "drystone": "import drystone",
    "drystone, every name": "import drystone as ds; [getattr(ds, name) for name in ds.__all__]",
}
PEERS = ("onnxruntime", "openvino", "torch", "tensorflow")


def run(quick: bool) -> Report:
    """Median and least seconds of each import, in interleaved rounds after one to warm up."""
    statements = dict(STATEMENTS)
    missing = [peer for peer in PEERS if find_spec(peer) is None]
    statements.update({peer: f"import {peer}" for peer in PEERS if peer not in missing})
    taken: dict[str, list[float]] = {name: [] for name in statements}
    rounds = 3 if quick else 11
    for _ in range(rounds + 1):
        for name, statement in statements.items():
            taken[name].append(_seconds(statement))
    base = statistics.median(taken["numpy"][1:])
    rows = [
        {
            "what": name,
            "median_s": statistics.median(seconds[1:]),
            "least_s": min(seconds[1:]),
            "to_numpy": statistics.median(seconds[1:]) / base,
            "target_s": TARGET if name == "drystone" else None,
            "runs": rounds,
        }
        for name, seconds in taken.items()
    ]
    columns = [
        Column("what", "import", text), Column("median_s", "median", span),
        Column("least_s", "least", span), Column("to_numpy", "to numpy", ratio),
        Column("target_s", "target", span), Column("runs", "processes", number),
    ]  # fmt: skip
    notes = [f"not installed here, so not measured: {', '.join(missing)}"] if missing else []
    return Report("import", "Import time, warm, fresh processes", columns, rows, notes)


def _seconds(statement: str) -> float:
    program = f"import time; t = time.perf_counter()\n{statement}\nprint(time.perf_counter() - t)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=True,
    )
    return float(done.stdout.splitlines()[-1])
