"""The folder of plans."""

from __future__ import annotations

import sys
from typing import Final

from drystone_base.store import Store, cache_store

__all__ = ["CACHE", "store"]

CACHE: Final = "DRYSTONE_PLAN_CACHE"
"""The variable that says where plans are kept: a folder, or ``off``."""

_MOST_BYTES: Final = 1 << 30


def store() -> Store | None:
    """Where plans are kept; None where they are not: only Linux says what a process has mapped."""
    return cache_store("plan", CACHE, _MOST_BYTES) if sys.platform == "linux" else None
