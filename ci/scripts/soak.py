"""Hours of runs in many sessions and threads: does memory stay flat, do answers stay the same?

soak.py [--minutes 120] [--threads 4] [--seed 0] [--models FOLDER] [--out FOLDER]

Threads take jobs at random. After each turn of a few minutes its threads end, its sessions are
closed, garbage is collected, and what is unused is given back; then memory, live objects, threads
and open files are counted. Nothing is under way and nothing of the
turn is left, so a count does not depend on how many runs a busy machine let overlap. The next turn
opens new sessions, which must give the first turn's answers. Some sessions stay open for all of the
soak. The log has a line of JSON per turn; summary.json and memory.svg say how it went, and so does
the status.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from ci.scripts.soak_jobs import Job, lasting_jobs, turn_jobs
from ci.scripts.soak_report import Bounds, sparkline, svg, verdict
from drystone_base import plugins
from drystone_base.host.live import live_objects
from drystone_base.host.memory import free_kept

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "integration_tests" / "data"
SHARED = ROOT.parent / "shared" / "models"

TUNABLES: Final = {"tcache_count": 0, "arena_max": 1, "mmap_threshold": 1 << 17,
                   "trim_threshold": 1 << 17}  # fmt: skip
ALLOCATOR: Final = {
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": ":".join(f"glibc.malloc.{name}={TUNABLES[name]}" for name in TUNABLES),
}
"""One allocator for all, which counts what is in use and gives back what is free: large blocks at
once, and of one heap, which `malloc_trim` can trim. A process reads these when it starts."""
MALLOC_COUNTS: Final = (
    "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
    "keepcost",
)  # fmt: skip

MakeJobs: TypeAlias = Callable[[ExitStack], dict[str, Job]]


@dataclass
class Soak:
    """What the threads of all turns did and found."""

    make: MakeJobs
    seed: int
    threads: int = 4
    lasting: dict[str, Job] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    first: dict[str, bytes] = field(default_factory=dict)
    runs: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    over: bool = False

    def __post_init__(self) -> None:
        self.door = threading.Condition()
        self.rng = random.Random(self.seed)

    def leave(self, name: str, finding: str) -> None:
        """A job has ended."""
        with self.door:
            self.runs[name] += 1
            if finding:
                self.found.append(finding)
            self.door.notify_all()

    def work(self, rng: random.Random) -> None:
        """What a thread of one turn does."""
        deck: list[str] = []
        while not self.over:
            if not deck:  # each thread comes to every job before it comes to one twice
                deck = sorted(self.jobs)
                rng.shuffle(deck)
            name = deck.pop()
            self.leave(name, self.check(name))

    def check(self, name: str) -> str:
        """Run a job and compare; what is wrong, or nothing."""
        try:
            answer = self.jobs[name]()
        except Exception as error:
            return f"{name}: {type(error).__name__}: {error}"
        same = answer == self.first.setdefault(name, answer)
        return "" if same else f"{name}: {answer!r}, first {self.first[name]!r}"

    def turn(self, seconds: float, least: int) -> dict[str, Any]:
        """Open sessions, let the threads work for that time and many runs, close all, count."""
        with ExitStack() as sessions:
            self.jobs = self.lasting | self.make(sessions)
            self.found += filter(None, map(self.check, self.jobs))
            self._work(seconds, self.runs.total() + least)
            self.jobs = {}
        return measure() | {"runs": self.runs.total(), "findings": len(self.found)}

    def _work(self, seconds: float, enough: int) -> None:
        """Threads of this turn: what a thread keeps for itself goes with it."""
        self.over = False
        threads = [
            threading.Thread(target=self.work, args=(random.Random(self.rng.random()),))
            for _ in range(self.threads)
        ]
        for thread in threads:
            thread.start()
        end = time.monotonic() + seconds
        with self.door:
            while (left := end - time.monotonic()) > 0:
                self.door.wait(left)
            self.door.wait_for(lambda: not threads or self.runs.total() >= enough)
        self.over = True
        for thread in threads:
            thread.join()


class MallocInfo(ctypes.Structure):
    """``struct mallinfo2`` of glibc."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in MALLOC_COUNTS)


def in_use() -> dict[str, float]:
    """MiB that programs hold of what the allocator gave, to the byte; nothing without glibc 2.33.

    Under ``ALLOCATOR`` Python's objects are among them, and nothing that was freed is.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return {}
    libc.mallinfo2.restype = MallocInfo
    counts = libc.mallinfo2()
    return {"used": round((counts.uordblks + counts.hblkhd) / 2**20, 5)}


def forget() -> None:
    """Collect garbage, and empty the table in which Python keeps 4,096 names it looked up."""
    while gc.collect():
        pass
    sys._clear_type_cache()  # each name is an object that is held until another takes its place


def measure() -> dict[str, Any]:
    """What this process holds: memory in MiB, live objects, threads, open and mapped files.

    ``mib`` is memory of its own, which neither the page cache nor other processes change: what is
    in use and the holes between. ``used`` is what is in use.
    """
    forget()
    free_kept()
    used = in_use()
    ctypes.CDLL(None).malloc_trim(0)
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    kib = {name.rstrip(":"): int(value) for name, value, _ in map(str.split, lines)}
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return {
        **used,
        "mib": round((kib["Anonymous"] + kib["Swap"]) / 1024, 3),
        "rss": round(kib["Rss"] / 1024, 3),
        "pss": round(kib["Pss"] / 1024, 3),
        "threads": len(os.listdir("/proc/self/task")),
        "files": len(os.listdir("/proc/self/fd")),
        "maps": sum("/" in line for line in maps),
        "objects": len(gc.get_objects()),
        **{f"live_{kind}": count for kind, count in live_objects().items()},
    }


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--turn", type=float, default=90.0, help="least seconds of a turn")
    parser.add_argument("--turn-runs", type=int, default=60, help="least runs of a turn")
    parser.add_argument("--rate", type=float, default=2.0, help="MiB in 10,000 runs that are flat")
    parser.add_argument("--used", type=float, default=0.5, help="the same of what is in use")
    parser.add_argument("--total", type=float, default=4.0, help="MiB in all that are flat")
    parser.add_argument("--models", type=Path, default=SHARED, help="folder of more models")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=ROOT / ".drystone-env" / "reports" / "soak")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    return parser.parse_args(arguments)


def turns(soak: Soak, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Soak for the time that was asked for; what was counted after each turn."""
    samples, start = [], time.monotonic()
    with (options.out / "samples.jsonl").open("w", encoding="utf-8") as log:
        while (gone := time.monotonic() - start) < options.minutes * 60:
            left = options.minutes * 60 - gone
            counted = soak.turn(min(options.turn, left), options.turn_runs)
            samples.append({"seconds": round(time.monotonic() - start, 1), **counted})
            print(json.dumps(samples[-1]), file=log, flush=True)
    return samples


def main(arguments: list[str] | None = None) -> int:
    """Soak, write the report, and say how it went."""
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as sessions:
        lasting = lasting_jobs(options.data, sessions)
        make = partial(turn_jobs, options.data, options.models)
        soak = Soak(make, options.seed, options.threads, lasting)
        samples = turns(soak, options)
    summary = verdict(samples, Bounds(options.rate, options.total, options.used)) | {
        "plugins": [p.name for p in plugins.report().plugins if p.state == "loaded"],
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
    if not ALLOCATOR.items() <= os.environ.items():
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **ALLOCATOR})
    sys.exit(main())
