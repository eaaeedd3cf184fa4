"""Workers of one case, driven in turn: A B C, B C A, ..., so that a slow spell hits all alike."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bench.case import Case
from bench.machine import Company
from bench.peers import TOP, Peer

__all__ = ["Settings", "Worker", "WorkerFailed", "measure"]


@dataclass(frozen=True)
class Settings:
    """How a case is measured: rounds, seconds and fewest batches of a slot, threads, patience.

    ``plans``: the folder in which drystone keeps plans for later processes, or ``off``.
    """

    rounds: int = 5
    seconds: float = 0.2
    least: int = 3
    threads: int = 1
    plans: str = "off"
    start_limit: float = 300.0
    slot_limit: float = 60.0


class WorkerFailed(Exception):
    """A worker could not start or stopped; ``no_form`` when the case is not for this runtime."""

    def __init__(self, reason: str, *, no_form: bool = False) -> None:
        super().__init__(reason)
        self.no_form = no_form


class Worker:
    """One process with one runtime and one case."""

    def __init__(self, peer: Peer, case: Case, settings: Settings) -> None:
        worker = peer.runtime.worker or f"run_{peer.name}"
        given = {"runtime": worker, "case": case.data(), "threads": settings.threads,
                 "started": time.time()}  # fmt: skip
        self.settings = settings
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            [peer.python, "-m", "bench.worker", json.dumps(given)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env=peer.environment(settings.threads, settings.plans), cwd=TOP.parent,
        )  # fmt: skip
        try:
            self.facts = self._read(settings.start_limit)
        except BaseException:
            self.close()
            raise

    def slot(self) -> dict[str, float]:
        """Times of one slot, with ``others``: cores that other programs kept busy meanwhile."""
        assert self._process.stdin is not None
        company = Company()
        wanted = {"seconds": self.settings.seconds, "least": self.settings.least}
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(wanted) + "\n")
            self._process.stdin.flush()
        found: dict[str, float] = self._read(self.settings.slot_limit)
        return {**found, "others": company.others(found["work_s"])}

    def close(self) -> None:
        """End the process."""
        with suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._errors.close()

    def _read(self, limit: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(limit, stop)
        timer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
        if late.is_set():
            raise WorkerFailed(f"no answer in {limit:.0f} s")
        if not line.strip():
            raise WorkerFailed(self._last_words())
        found: dict[str, Any] = json.loads(line)
        if "none" in found:
            raise WorkerFailed(found["none"].removeprefix("NoForm: "), no_form=True)
        if "error" in found:
            raise WorkerFailed(found["error"])
        return found

    def _last_words(self) -> str:
        status = self._process.wait()
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors if line.strip()]
        return f"ended with status {status}" + (f": {lines[-1][:200]}" if lines else "")


def measure(
    case: Case, peers: Sequence[Peer], settings: Settings, found: dict[str, dict[str, Any]]
) -> None:
    """Fill ``found`` by peer: start, slots in turn, summary; or ``error`` or ``none``.

    What was measured stays in ``found`` when this is interrupted.
    """
    workers: dict[str, Worker] = {}
    slots: dict[str, list[dict[str, float]]] = {}
    try:
        for peer in peers:
            try:
                workers[peer.name] = Worker(peer, case, settings)
                found[peer.name] = dict(workers[peer.name].facts)
            except WorkerFailed as failure:
                found[peer.name] = {"none" if failure.no_form else "error": str(failure)}
        for number in range(settings.rounds):
            for name in _turned(list(workers), number):
                try:
                    slots.setdefault(name, []).append(workers[name].slot())
                except WorkerFailed as failure:
                    found[name]["error"] = str(failure)
                    workers.pop(name).close()
    finally:
        for name, taken in slots.items():
            found[name] |= summary(taken)
        for worker in workers.values():
            worker.close()


def _turned(names: list[str], number: int) -> list[str]:
    """Who goes when in a round: each is first in turn, and none always follows the same other."""
    first = number % max(1, len(names))
    return names[first:] + names[:first]


def summary(slots: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """What slots say together: the seconds of each by both clocks, the least, memory, company."""
    return {
        "slots": {clock: [slot[f"{clock}_s"] for slot in slots] for clock in ("wall", "cpu")},
        "least_s": min(slot["least_s"] for slot in slots),
        "calls": sum(int(slot["calls"]) for slot in slots),
        "rss": max(slot["rss"] for slot in slots),
        "others": statistics.median(slot["others"] for slot in slots),
    }
