"""When what a thread prepares must be done: a limit for all of it, and nearer ones for its stages.

Whatever goes through a graph looks at the clock now and then. A stage that is not needed for the
right answer takes :class:`OutOfTime` as the reason to leave the graph as it was.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["OutOfTime", "ends", "is_over", "look", "stage_ends", "unlimited", "until"]

_SECONDS: Final = 60.0
_SECONDS_OF_NODE: Final = 1e-3
_PART: Final = 0.25


class OutOfTime(Exception):
    """The time for what is being prepared is over; what was begun is worth nothing."""


class _Limit(threading.local):
    ends: float | None = None


_LIMIT: Final = _Limit()


def ends() -> float | None:
    """The instant of ``time.monotonic`` at which this thread must be done; None: any."""
    return _LIMIT.ends


def is_over() -> bool:
    """Whether the time is over."""
    limit = _LIMIT.ends
    return limit is not None and time.monotonic() > limit


def look() -> None:
    """Raise ``OutOfTime`` where the time is over."""
    limit = _LIMIT.ends  # rather than by way of `is_over`: for each node, often
    if limit is not None and time.monotonic() > limit:
        raise OutOfTime


def stage_ends(nodes: int, seconds: float | None = None) -> float | None:
    """When a stage must be done without which a run is right all the same; None: whenever.

    After ``seconds``; without them, after a minute and 1 ms for each of the graph's ``nodes``,
    twenty times what models take. In any case after a quarter of the time that is left.
    """
    own = _SECONDS + _SECONDS_OF_NODE * nodes if seconds is None else seconds
    now, limit = time.monotonic(), _LIMIT.ends
    if limit is not None:
        own = min(own, max(0.0, limit - now) * _PART)
    return None if own == math.inf else now + own


@contextmanager
def until(limit: float | None) -> Iterator[None]:
    """What is inside must be done by then, and by what holds outside; None: only by that."""
    before = _LIMIT.ends
    if limit is not None:
        _LIMIT.ends = limit if before is None else min(before, limit)
    try:
        yield
    finally:
        _LIMIT.ends = before


@contextmanager
def unlimited() -> Iterator[None]:
    """What is inside may take as long as it takes: it is known to be short."""
    before, _LIMIT.ends = _LIMIT.ends, None
    try:
        yield
    finally:
        _LIMIT.ends = before
