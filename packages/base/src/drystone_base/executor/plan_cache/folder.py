"""The folder of the plan cache."""

from __future__ import annotations

import sys

from drystone_base.core.environment import PLAN_CACHE, PLAN_CACHE_BYTES
from drystone_base.files.store import Store, cache_store

__all__ = ["store"]


def store() -> Store | None:
    """The store; None where it is off, and off Linux: files are hashed by their descriptors."""
    return cache_store("plan", PLAN_CACHE, PLAN_CACHE_BYTES) if sys.platform == "linux" else None
