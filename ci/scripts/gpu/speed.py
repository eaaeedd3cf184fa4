"""How long networks take beside PyTorch, all in one run, subjects taking turns."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from ci.scripts.gpu.networks import NETWORKS

__all__ = ["ENGINES", "compare"]

ENGINES: Final = ("drystone", "torch-eager", "torch-compiled")
BATCHES: Final = (1, 32)
PRECISIONS: Final = ("float32", "bfloat16")
ROUNDS: Final = 3


class _Subject:
    """A process that prepares while others do, and measures when it is its turn."""

    def __init__(self, facts: dict[str, Any], log: Path) -> None:
        self.facts, self.seconds = facts, list[float]()
        self.ready: dict[str, Any] = {}
        self.problem = ""
        self.log = log.open("w", encoding="utf-8")
        command = [sys.executable, "-m", "ci.scripts.gpu.worker", json.dumps(facts)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)  # fmt: skip
        self._lines = threading.Thread(target=self._wait, daemon=True)
        self._lines.start()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        return {}

    def _wait(self) -> None:
        self.ready = self._answer().get("ready", {})

    def prepared(self, until: float) -> bool:
        """Whether it is ready by that time; what is not is stopped."""
        self._lines.join(max(0.0, until - time.monotonic()))
        if not self.ready:
            late = self.process.poll() is None
            self.problem = "not ready in time" if late else f"ended with {self.process.returncode}"
            self.close()
        return bool(self.ready)

    def measure(self) -> None:
        """One median of a few calls."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        found = self._answer().get("seconds")
        if found is None:
            self.problem = "it ended while it was measured"
        else:
            self.seconds.append(found)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.log.close()

    def result(self) -> dict[str, Any]:
        """What is known of it; ``seconds``: the median of its turns."""
        found = {**self.facts, **self.ready, "turns": self.seconds, "problem": self.problem}
        return {**found, "seconds": median(self.seconds) if self.seconds else None}


def compare(logs: Path, seconds: float, engines: Sequence[str] = ENGINES) -> list[dict[str, Any]]:
    """Every network, batch and precision by each engine; those not ready in ``seconds`` are not.

    Ours prepare one after another, since they choose algorithms by timing them; the compilers of
    others take longer than all of these together.
    """
    logs.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + seconds
    keys = [(e, n, b, p) for n in NETWORKS for b in BATCHES for p in PRECISIONS for e in engines]
    subjects: dict[tuple[str, str, int, str], _Subject] = {}
    for engine, network, batch, precision in sorted(keys, key=lambda key: key[0] == "drystone"):
        facts = {"network": network, "batch": batch, "precision": precision, "engine": engine}
        one = _Subject(facts, logs / f"{network}-{batch}-{precision}-{engine}")
        subjects[engine, network, batch, precision] = one
        if engine == "drystone":
            one.prepared(until)
    ready = [subjects[key] for key in keys if subjects[key].prepared(until)]
    for _ in range(ROUNDS):
        for subject in ready:
            if not subject.problem:
                subject.measure()
    for subject in ready:
        subject.close()
    return [subjects[key].result() for key in keys]
