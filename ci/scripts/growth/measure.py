"""Measuring one thing at two sizes, four times apart, in processor time."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final

from ci.scripts.growth.build import Made
from ci.scripts.growth.graph_jobs import Job

__all__ = ["MOST_RATIO", "Growth", "TooSlow", "grow"]

MOST_RATIO: Final = 6.0
FACTOR: Final = 4


class TooSlow(BaseException):
    """A measurement took longer than it may."""


@dataclass(frozen=True)
class Growth:
    """Seconds at ``size`` and at four times that."""

    size: int
    small: float
    large: float
    least: float

    @property
    def ratio(self) -> float:
        """By how much the time grew."""
        return self.large / self.small

    @property
    def is_linear(self) -> bool:
        """Whether it grew no faster than what is allowed, or is nothing worth measuring."""
        return self.ratio < MOST_RATIO or self.large < 2 * self.least


def grow(
    job: Job, shape: Callable[[int], Made], *, least: float, first: int, most: int, limit: float
) -> Growth:
    """The growth at the smallest size, doubled from ``first`` up to ``most``, worth measuring.

    That is where the work takes ``least`` seconds. What seems to grow too fast is measured again,
    more often. No measurement of one size takes more than ``limit`` seconds.
    """
    size = first
    small = _least(job, shape, size, 2, limit)
    while small < least and size < most:
        size *= 2 if small > least / 3 else 4
        size = min(size, most)
        small = _least(job, shape, size, 2, limit)
    small = min(small, _least(job, shape, size, 2, limit))
    found = Growth(size, small, _large(job, shape, size, small, 2, limit), least)
    if not found.is_linear and found.large < limit:
        small = min(small, _least(job, shape, size, 5, limit))
        found = Growth(
            size, small, min(found.large, _large(job, shape, size, small, 4, limit)), least
        )
    return found


def _large(
    job: Job, shape: Callable[[int], Made], size: int, small: float, count: int, limit: float
) -> float:
    """Seconds at four times the size; ``limit`` if they are more than that."""
    try:
        return _least(job, shape, FACTOR * size, count, max(limit, 20 * small))
    except TooSlow:
        return max(limit, 20 * small)


def _least(job: Job, shape: Callable[[int], Made], size: int, count: int, limit: float) -> float:
    """The least processor time of some runs, each with what is prepared for it again."""
    best = float("inf")
    made = shape(size)
    for _ in range(count):
        work = job(made)
        gc.collect()
        gc.disable()
        try:
            with _limited(limit):
                begin = time.thread_time()
                work()
                best = min(best, time.thread_time() - begin)
        finally:
            gc.enable()
    return best


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End what is inside by ``TooSlow`` after some seconds, as soon as Python's code goes on."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 2 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
