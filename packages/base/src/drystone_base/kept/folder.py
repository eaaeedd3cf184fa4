"""The folder of plans."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from drystone_base.machine import cache_folder
from drystone_base.store import Store

__all__ = ["CACHE", "CACHE_BYTES", "store"]

CACHE: Final = "DRYSTONE_PLAN_CACHE"
"""The variable that says where plans are kept: a folder, or ``off``."""

CACHE_BYTES: Final = "DRYSTONE_PLAN_CACHE_BYTES"
"""The variable that says how many bytes they may take there."""

_MOST_BYTES: Final = 1 << 30


def store() -> Store | None:
    """Where plans are kept; None where they are not."""
    chosen = os.environ.get(CACHE, "").strip()
    if chosen.lower() in ("off", "none", "0") or sys.platform != "linux":
        return None  # elsewhere nobody says which libraries a process has
    most = _MOST_BYTES
    with suppress(ValueError):
        most = int(os.environ.get(CACHE_BYTES, ""))
    try:
        return Store(Path(chosen) if chosen else cache_folder() / "plans", most, "plan")
    except RuntimeError:  # a user without a home
        return None
