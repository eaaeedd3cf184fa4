"""The machine that a run was made on, and how busy others kept it."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

__all__ = ["Company", "describe", "processor"]


def describe() -> dict[str, str | int]:
    """Processor, cores, bytes of memory, system: no names of hosts or users."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
    }


def cores() -> int:
    """Cores of the machine."""
    return os.cpu_count() or 1


def processor() -> str:
    """The processor's name where the system tells it, else its architecture."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


class Company:
    """Since it was made: how many cores other programs kept busy."""

    def __init__(self) -> None:
        self._busy, self._start = _busy_seconds(), time.perf_counter()

    def others(self, own: float) -> float:
        """Cores, when ``own`` seconds of work were ours; 0 where it is not counted."""
        now, passed = _busy_seconds(), time.perf_counter() - self._start
        return max(0.0, (now - self._busy - own) / passed)


def _busy_seconds() -> float:
    """Seconds that all cores together have worked since the start, as far as the system tells."""
    counts = Path("/proc/stat")
    if not counts.exists():
        return 0.0
    first = counts.read_text(encoding="ascii").split("\n", 1)[0]
    user, nice, system, _, _, irq, soft, *_ = map(int, first.split()[1:])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")
