"""Peak memory of this process."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

__all__ = ["peak_rss"]


def peak_rss() -> int:
    """Most bytes of memory that this process has held.

    Linux counts what the parent held before the program started in ``getrusage``, not in its own
    status file.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
