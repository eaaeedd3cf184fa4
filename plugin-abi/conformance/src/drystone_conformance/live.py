"""Whether calls give back everything that the host handed out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drystone_base.host.live import live_objects

__all__ = ["grown"]


def grown(call: Callable[[], Any], times: int = 5) -> dict[str, float]:
    """Objects left behind by one call, on average over `times`, after two calls to warm up."""
    call()
    call()
    before = live_objects()
    for _ in range(times):
        call()
    after = live_objects()
    left = {kind: (after[kind] - before[kind]) / times for kind in after}
    return {kind: count for kind, count in left.items() if count > 0}
