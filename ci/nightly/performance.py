"""Ratios of cases to work that takes as long every night, beside the stored ones.

Both take turns, so that a slow spell hits both (bench.rounds). Stored figures are in
performance.json, by processor; on another one the earliest run that is kept there counts. What is
15 % below them in three measurements is an alarm. `python -m ci.nightly.performance` stores the
medians of the runs that are kept of this processor.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bench import result as of
from bench.case import Case as Measured
from bench.machine import describe
from bench.peers import OURS, RUNTIMES, Peer, Runtime, find
from bench.rounds import Settings, measure
from ci.nightly import results
from ci.nightly.suite import Case, Figures, Place, Wrong

__all__ = ["ALARM", "TITLE", "cases", "compared", "main"]

TITLE = "Performance"
ALARM = 0.15
"""The share by which a case may be slower than its stored figure."""
TRIES = 3
STORED = Path(__file__).with_suffix(".json")
YARDSTICK = Runtime("yardstick", ("numpy",), "import numpy", worker="run_yardstick")
CASES = (
    "one-add", "elementwise-100", "adds-1000", "while-v1", "while-v2", "nms-loop", "hashed-text",
    "basic-pitch", "blazeface-front", "facemesh", "gen-controlflow-v1", "guesslang", "selfie",
    "textgenrnn-v2cf",
)  # fmt: skip


IMAGES = ("blazeface-front", "facemesh", "selfie")
"""Those whose step is one image."""


def cases(_: Place) -> list[Case]:
    """Those of `nox -s bench` that the repository holds, training steps apart."""
    return [Case(name, partial(_run, name)) for name in CASES]


def _run(name: str, place: Place) -> Figures:
    stored, whence = _stored(name, place.results)
    with tempfile.TemporaryDirectory() as folder:
        case = _case(name, Path(folder))
        unit = "images" if name in IMAGES else "steps"
        return compared(partial(_ratio, case), stored, whence, unit)


def compared(
    measured: Callable[[], tuple[float, float]], stored: float | None, whence: str, unit: str
) -> Figures:
    """A ratio beside the stored one; raises `Wrong` where it is too low every time.

    `measured` gives the ratio and the seconds of a call, in which there is one `unit`.
    """
    best, rate = 0.0, f"{unit} a second"
    for _ in range(TRIES):
        ratio, seconds = measured()
        best = max(best, ratio)
        if stored is None:
            return {"ratio": ratio, "stored": "nothing yet", rate: 1 / seconds}
        if best >= stored * (1 - ALARM):
            share = best / stored
            return {"ratio": best, "of stored": share, "stored": stored, "in": whence,
                    rate: 1 / seconds}  # fmt: skip
    assert stored is not None
    said = f"{1 - best / stored:.0%} below the stored ratio"
    raise Wrong(f"{said}: {best:.3g}, where {whence} has {stored:.3g}")


def _ratio(case: Measured) -> tuple[float, float]:
    """How many calls of ours the yardstick's time is, and the seconds of one."""
    peers = [find(RUNTIMES[0], sys.executable), Peer(YARDSTICK, sys.executable)]
    row: dict[str, Any] = {"found": {}, "tolerance": case.tolerance, "threads": 1}
    measure(case, peers, Settings(rounds=5), row["found"])
    row["clock"] = of.clock(row)
    found = of.ratio(row, YARDSTICK.name)
    if found is None:
        entry = row["found"].get(OURS, {})
        raise Wrong(entry.get("error") or f"wrong answers: {of.wrong(entry)}")
    return found, of.middle(row, OURS)


def _case(name: str, work: Path) -> Measured:
    from bench.cases.recorded import recorded
    from bench.cases.synthetic import synthetic

    held = {case.name: case for case in recorded(work / "none beside the checkout")}
    return held.get(name) or next(case for case in synthetic(work) if case.name == name)


def named(facts: Mapping[str, Any]) -> str:
    """What stored figures are told apart by."""
    return f"{facts['processor']}, {facts['cores']} cores"


def machine() -> str:
    """That of this one."""
    return named(describe())


def _stored(name: str, folder: Path) -> tuple[float | None, str]:
    """The figure to compare with, and where it stands."""
    known: Mapping[str, Mapping[str, float]] = json.loads(STORED.read_text(encoding="utf-8"))
    if name in known.get(machine(), {}):
        return known[machine()][name], STORED.name
    for run in results.load(folder, "performance"):
        figures = run["cases"].get(name, {}).get("figures", {})
        if run["complete"] and named(run["machine"]) == machine() and "ratio" in figures:
            return float(figures["ratio"]), f"the run of {run['started'][:10]}"
    return None, ""


def main() -> int:
    """Store the medians of what is kept of this processor."""
    folder = Place(Path()).results if len(sys.argv) < 2 else Path(sys.argv[1])
    runs = [run for run in results.load(folder, "performance")
            if run["complete"] and named(run["machine"]) == machine()]  # fmt: skip
    figures = {
        name: [run["cases"][name]["figures"]["ratio"] for run in runs
               if "ratio" in run["cases"].get(name, {}).get("figures", {})]
        for name in CASES
    }  # fmt: skip
    known = json.loads(STORED.read_text(encoding="utf-8"))
    known[machine()] = {
        name: float(f"{statistics.median(found):.4g}") for name, found in figures.items() if found
    }
    STORED.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    print(f"{STORED.name}: {len(known[machine()])} figures of {len(runs)} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
