"""Hours of runs in many sessions and threads: does memory stay flat, do answers stay the same?

soak.py [--minutes 120] [--threads 4] [--seed 0] [--models FOLDER] [--out FOLDER]

Threads take jobs at random. Every few seconds all of them wait while memory, live objects of the
host library, threads and open files are counted: in that silence nothing is under way. The log has
a line of JSON per sample; summary.json and memory.svg say how it went, and so does the status.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ci.scripts.soak_jobs import Job, jobs
from ci.scripts.soak_report import sparkline, svg, verdict
from drystone_base import plugins
from drystone_base.host.live import live_objects

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "integration_tests" / "data"
SHARED = ROOT.parent / "shared" / "models"


@dataclass
class Soak:
    """The threads, what they found, and the door that they wait at."""

    jobs: dict[str, Job]
    seed: int
    first: dict[str, bytes] = field(default_factory=dict)
    runs: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    over: bool = False
    closed: bool = False
    busy: int = 0

    def __post_init__(self) -> None:
        self.door = threading.Condition()

    def enter(self) -> bool:
        """Wait until the door is open; whether there is more to do."""
        with self.door:
            self.door.wait_for(lambda: not self.closed or self.over)
            self.busy += not self.over
            return not self.over

    def leave(self, name: str, finding: str) -> None:
        """A job has ended."""
        with self.door:
            self.busy -= 1
            self.runs[name] += 1
            if finding:
                self.found.append(finding)
            self.door.notify_all()

    def work(self, number: int) -> None:
        """What one thread does."""
        rng = random.Random(self.seed * 1000 + number)
        names = list(self.jobs)
        while self.enter():
            name = rng.choice(names)
            self.leave(name, self.check(name))

    def check(self, name: str) -> str:
        """Run a job and compare; what is wrong, or nothing."""
        try:
            answer = self.jobs[name]()
        except Exception as error:
            return f"{name}: {type(error).__name__}: {error}"
        same = answer == self.first.setdefault(name, answer)
        return "" if same else f"{name}: {answer!r}, first {self.first[name]!r}"

    def silence(self) -> dict[str, Any]:
        """Close the door, wait for the jobs under way, count, and open it."""
        with self.door:
            self.closed = True
            self.door.wait_for(lambda: self.busy == 0)
            sample = measure() | {"runs": self.runs.total(), "findings": len(self.found)}
            self.closed = False
            self.door.notify_all()
            return sample

    def end(self) -> None:
        """Let the threads go."""
        with self.door:
            self.over = True
            self.door.notify_all()


def measure() -> dict[str, Any]:
    """What this process holds: memory in MiB, live objects, threads, open files."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return {
        "mib": round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 3),
        "threads": len(os.listdir("/proc/self/task")),
        "files": len(os.listdir("/proc/self/fd")),
        "objects": len(gc.get_objects()),
        **{f"live_{kind}": count for kind, count in live_objects().items()},
    }


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between samples")
    parser.add_argument("--slope", type=float, default=8.0, help="MiB an hour that are flat")
    parser.add_argument("--models", type=Path, default=SHARED, help="folder of more models")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=ROOT / ".drystone-env" / "reports" / "soak")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> tuple[Soak, list[dict[str, Any]]]:
    """Soak for the time that was asked for; the samples."""
    soak = Soak(jobs(options.data, options.models), options.seed)
    for name in soak.jobs:  # everything is prepared, and has its first answer
        if wrong := soak.check(name):
            soak.found.append(wrong)
    threads = [threading.Thread(target=soak.work, args=(k,)) for k in range(options.threads)]
    for thread in threads:
        thread.start()
    samples, start = [], time.monotonic()
    with (options.out / "samples.jsonl").open("w", encoding="utf-8") as log:
        while (now := time.monotonic() - start) < options.minutes * 60:
            time.sleep(min(options.every, max(0.0, options.minutes * 60 - now)))
            seconds = round(time.monotonic() - start, 1)
            samples.append({"seconds": seconds, **soak.silence()})
            print(json.dumps(samples[-1]), file=log, flush=True)
    soak.end()
    for thread in threads:
        thread.join()
    return soak, samples


def main(arguments: list[str] | None = None) -> int:
    """Soak, write the report, and say how it went."""
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    soak, samples = run(options)
    summary = verdict(samples, options.slope) | {
        "plugins": [plugin.name for plugin in plugins.report().plugins],
        "jobs": dict(sorted(soak.runs.items())),
        "first_findings": soak.found[:20],
    }
    (options.out / "summary.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
    (options.out / "memory.svg").write_text(svg(samples), encoding="utf-8")
    if options.json:
        print(json.dumps(summary))
    else:
        print("memory", sparkline([sample["mib"] for sample in samples]))
        for line in (*summary["lines"], *soak.found[:20]):
            print(line)
    return 0 if summary["flat"] and not soak.found else 1


if __name__ == "__main__":
    sys.exit(main())
