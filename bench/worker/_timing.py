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
    """Seconds per call over batches: median, least; CPU seconds; and how many calls there were."""
    clock = time.perf_counter
    gc.collect()
    start = clock()
    call()
    many = max(1, min(10_000, int(BATCH / max(clock() - start, 1e-9))))
    batches: list[float] = []
    cpu, end = time.process_time(), clock() + seconds
    while len(batches) < least or clock() < end:
        start = clock()
        for _ in range(many):
            call()
        batches.append((clock() - start) / many)
    calls = len(batches) * many
    return {"median_s": statistics.median(batches), "least_s": min(batches), "calls": calls,
            "cpu_s": (time.process_time() - cpu) / calls}  # fmt: skip
