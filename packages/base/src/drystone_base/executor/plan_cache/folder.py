"""The folder of plans."""

from __future__ import annotations

import sys

from drystone_base.core.environment import PLAN_CACHE, PLAN_CACHE_BYTES
from drystone_base.files.store import Store, cache_store

__all__ = ["store"]


def store() -> Store | None:
    """Where plans are kept; None where they are not: only Linux says what a process has mapped."""
    return cache_store("plan", PLAN_CACHE, PLAN_CACHE_BYTES) if sys.platform == "linux" else None
