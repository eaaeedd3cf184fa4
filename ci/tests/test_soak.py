"""The verdict over a soak's samples, on samples made up and on real memory; and its pictures."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

import pytest

from ci.scripts.project import ROOT
from ci.scripts.soak import ALLOCATOR, Soak
from ci.scripts.soak_report import Bounds, slopes, sparkline, svg, verdict

BOUNDS = Bounds(rate=2.0, total=4.0, used=0.5)
TURNS = 60


def samples(mib: Sequence[float], runs: Sequence[int], **counts: Any) -> list[dict[str, Any]]:
    """One per turn: its memory, and the runs up to it."""
    return [
        {"seconds": 120.0 * (k + 1), "mib": mib[k], "runs": runs[k], "findings": 0}
        | {key: values[k] for key, values in counts.items()}
        for k in range(len(mib))
    ]


def busy_then_free() -> list[int]:
    """Runs up to each turn: few while the machine is shared, many from the middle on."""
    return [100 * k if k < 30 else 3000 + 2000 * (k - 30) for k in range(1, TURNS + 1)]


def noisy(rise: Sequence[float], seed: int = 0) -> list[float]:
    """A process that fills its caches in ten turns, then rises like this, with some noise."""
    rng = random.Random(seed)
    return [
        140 + min(k, 10) + more + rng.uniform(-0.3, 0.3) + 30 * (rng.random() < 0.05)
        for k, more in enumerate(rise)
    ]


def test_the_slope_does_not_move_with_a_sample_far_off() -> None:
    assert slopes([1, 2, 3], [5, 7, 9])[1] == pytest.approx(2)
    low, middle, high = slopes(range(20), [3.0 * k if k != 9 else 500.0 for k in range(20)])
    assert (low, middle, high) == pytest.approx((3, 3, 3))


def test_a_single_point_allows_every_slope() -> None:
    low, middle, high = slopes([1], [5])
    assert (low, middle, high) == (float("-inf"), 0, float("inf"))


@pytest.mark.parametrize("seed", range(5))
def test_a_machine_that_becomes_free_is_no_leak(seed: int) -> None:
    found = verdict(samples(noisy([0.0] * TURNS, seed), busy_then_free()), BOUNDS)
    assert found["flat"], found["lines"]
    assert found["lines"][-1] == "FLAT: 63000 runs in 2.00 h, 0 findings"


@pytest.mark.parametrize("seed", range(5))
def test_a_leak_of_each_run_is_found(seed: int) -> None:
    runs = busy_then_free()
    found = verdict(samples(noisy([300 * r / 2**20 for r in runs], seed), runs), BOUNDS)
    assert found["said"] == "NOT FLAT", found["lines"]


def test_a_leak_of_each_session_is_found_where_runs_are_many() -> None:
    runs = [10_000 * k for k in range(1, TURNS + 1)]
    found = verdict(samples(noisy([0.2 * k for k in range(TURNS)]), runs), BOUNDS)
    assert found["said"] == "NOT FLAT", found["lines"]
    assert found["mib"] < BOUNDS.rate < BOUNDS.total < found["total"]


def test_a_step_is_found() -> None:
    step = [5.0 * (k > 40) for k in range(TURNS)]
    assert verdict(samples(noisy(step), busy_then_free()), BOUNDS)["said"] == "NOT FLAT"


def test_what_is_in_use_is_judged_more_closely() -> None:
    runs = busy_then_free()
    used = [80 + r * 80 / 2**20 for r in runs]  # the holes between take part of it
    rows = [
        s | {"used": mib} for s, mib in zip(samples(noisy([0.0] * TURNS), runs), used, strict=True)
    ]
    found = verdict(rows, BOUNDS)
    assert found["said"] == "NOT FLAT"
    assert found["used"] == pytest.approx(80 * 10_000 / 2**20)
    assert verdict([s | {"used": 80.0} for s in rows], BOUNDS)["flat"]


def test_too_few_turns_decide_nothing() -> None:
    found = verdict(samples([140.0] * 6, range(6)), BOUNDS)
    assert not found["flat"]
    assert found["lines"][-1].startswith("UNDECIDED, soak for longer: 5 runs")


def test_too_few_runs_decide_nothing() -> None:
    found = verdict(samples(noisy([0.0] * 30), range(30)), BOUNDS)
    assert found["said"].startswith("UNDECIDED")


def test_one_object_more_fails() -> None:
    tensors = [7 + (k > 50) for k in range(TURNS)]
    found = verdict(samples([140.0] * TURNS, busy_then_free(), live_tensors=tensors), BOUNDS)
    assert found["grown"] == ["live_tensors"]
    assert "NOT FLAT" in found["lines"][-1]


REAL = """
import itertools

from ci.scripts.soak import Soak
from ci.scripts.soak_report import Bounds, verdict

kept = []
runs = itertools.count()

def name():
    before = [bytes(100) for _ in range(next(runs) // 2)]  # the name comes to another place
    getattr(before, "a name that nothing has%60d" % 0, None)
    return b"same"

def make(sessions):
    own = [bytes(1 << 20) for _ in range(8)]
    sessions.callback(own.clear)
    if not LEAK:  # a list that grows would be a leak, too
        return {"job": name}
    return {"job": lambda: kept.append(b"x" * LEAK) or b"same"}

soak = Soak(make, seed=0, threads=3)
found = [{"seconds": 1.0 + k} | soak.turn(0, 400) for k in range(12)]
judged = verdict(found, Bounds(rate=1000 * 1e4 / 2**20, total=4.0, used=10 * 1e4 / 2**20))
print(*judged["lines"], judged["said"], sep="\\n")
"""
"""Threads run jobs, which leak LEAK bytes a run, in turns with something of their own. Where none
leak they look up names, of which Python keeps the last ones."""


@pytest.mark.parametrize(("leak", "said"), [(0, "FLAT"), (48, "NOT FLAT"), (2048, "NOT FLAT")])
def test_real_memory(leak: int, said: str) -> None:
    """In a process of its own: what other tests left to collect is no leak of this one."""
    done = subprocess.run([sys.executable, "-c", f"LEAK = {leak}\n{REAL}"], cwd=ROOT, text=True,
                          capture_output=True, check=False, env=os.environ | ALLOCATOR)  # fmt: skip
    assert done.stdout.splitlines()[-1:] == [said], done.stdout + done.stderr


def test_another_answer_is_a_finding() -> None:
    answers = iter([b"one", b"one", b"two"])
    soak = Soak(lambda _: {"job": lambda: next(answers)}, seed=0, threads=0)
    soak.turn(0, 0)
    soak.turn(0, 0)
    assert soak.found == []
    soak.turn(0, 0)
    assert soak.found == ["job: b'two', first b'one'"]


def test_pictures() -> None:
    assert sparkline([0, 7]) == "▁█ 0.0 to 7.0 MiB"
    assert sparkline([3.0]) == "▁ 3.0 to 3.0 MiB"
    flat = samples([140.0] * TURNS, busy_then_free())
    assert ET.fromstring(svg(flat)).tag.endswith("svg")
