"""Whether calls give back everything that the host handed out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from drystone_base.host.live import live_objects

__all__ = ["grown"]

PATIENCE = 2.0
"""Seconds that objects have to go: a thread that worked for a call may end after the call."""


def grown(call: Callable[[], Any], times: int = 5) -> dict[str, float]:
    """Objects left behind by one call, on average over `times`, after two calls to warm up."""
    call()
    call()
    before = live_objects()
    for _ in range(times):
        call()
    end = time.monotonic() + PATIENCE
    while (left := _more(before, times)) and time.monotonic() < end:
        time.sleep(0.01)
    return left


def _more(before: dict[str, int], times: int) -> dict[str, float]:
    """What there is more of than before, a call."""
    now = live_objects()
    return {kind: (now[kind] - before[kind]) / times for kind in now if now[kind] > before[kind]}
