"""Timing of one slot."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

__all__ = ["slot"]

BATCH = 5e-4
"""Seconds that a batch of short calls takes together: the clock's own cost disappears in it."""


def slot(call: Callable[[], Any], seconds: float, least: int) -> dict[str, float]:
    """Seconds per call, medians over batches: on the wall, of processors; how many calls."""
    clock, work = time.perf_counter, time.process_time
    gc.collect()
    start = clock()
    call()
    many = max(1, min(10_000, int(BATCH / max(clock() - start, 1e-9))))
    walls: list[float] = []
    works: list[float] = []
    end = clock() + seconds
    while len(walls) < least or clock() < end:
        worked, start = work(), clock()
        for _ in range(many):
            call()
        walls.append((clock() - start) / many)
        works.append((work() - worked) / many)
    return {
        "wall_s": statistics.median(walls), "cpu_s": statistics.median(works),
        "least_s": min(walls), "work_s": sum(works) * many, "calls": len(walls) * many,
    }  # fmt: skip
