"""Steps of one nox session that all run, whatever fails, and one closing line for the lot."""

from __future__ import annotations

import os
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Outcome", "Steps", "closing_line", "read_junit"]


@dataclass(frozen=True)
class Outcome:
    """What one step did; a step that is no test run counts as one test."""

    name: str
    seconds: float
    passed: int
    failed: int
    skipped: int = 0


def read_junit(file: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests in a JUnit file; a missing file is one failure."""
    if not file.exists():
        return 0, 1, 0
    suites = list(ET.parse(file).getroot().iter("testsuite"))
    total, failures, errors, skipped = (
        sum(int(suite.get(key, "0")) for suite in suites)
        for key in ("tests", "failures", "errors", "skipped")
    )
    return total - failures - errors - skipped, failures + errors, skipped


def closing_line(outcomes: list[Outcome]) -> str:
    """`N passed, N failed, N skipped` over all steps."""
    passed, failed, skipped = (
        sum(getattr(outcome, key) for outcome in outcomes)
        for key in ("passed", "failed", "skipped")
    )
    return f"{passed} passed, {failed} failed, {skipped} skipped"


class Steps:
    """Runs steps in order and remembers each outcome.

    A step is a callable that raises `failure` when it fails; nothing else is caught.
    """

    def __init__(self, failure: type[Exception]) -> None:
        self.failure = failure
        self.outcomes: list[Outcome] = []

    def run(self, name: str, step: Callable[[], object], junit: Path | None = None) -> bool:
        """Run one step; `junit` is the file in which a test run leaves its counts."""
        if junit is not None:
            junit.unlink(missing_ok=True)
        start = time.perf_counter()
        try:
            step()
            ok = True
        except self.failure as error:
            print(f"step {name} failed: {error}")
            ok = False
        counts = (int(ok), int(not ok), 0) if junit is None else read_junit(junit)
        if not ok and counts[1] == 0:
            counts = (counts[0], 1, counts[2])
        self.outcomes.append(Outcome(name, time.perf_counter() - start, *counts))
        return ok

    def close(self) -> bool:
        """Print the table and the closing line; true when nothing failed.

        With DRYSTONE_CLOSING_LINE set, the line goes to that file for the caller to print last.
        """
        width = max(len(outcome.name) for outcome in self.outcomes)
        print()
        for outcome in self.outcomes:
            state = "failed" if outcome.failed else "ok"
            print(f"  {outcome.name:<{width}}  {outcome.seconds:7.1f} s  {state}")
        line = closing_line(self.outcomes)
        file = os.environ.get("DRYSTONE_CLOSING_LINE")
        if file:
            Path(file).write_text(line + "\n", encoding="utf-8")
        else:
            print(line)
        return not any(outcome.failed for outcome in self.outcomes)
