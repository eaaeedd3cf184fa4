"""Measuring one thing at two sizes, four times apart, in processor time."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
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

    That is where the work takes ``least`` seconds. The small size counts by its median, since one
    lucky run in a warm cache is half the others, and the large one by its least. What seems to
    grow too fast is measured again, more often. No measurement of one size takes more than
    ``limit`` seconds.
    """
    size = first
    small = _times(job, shape, size, 2, limit)
    while min(small) < least and size < most:
        size *= 2 if min(small) > least / 3 else 4
        size = min(size, most)
        small = _times(job, shape, size, 2, limit)
    small += _times(job, shape, size, 2, limit)
    large = _large(job, shape, size, median(small), 2, limit)
    found = Growth(size, median(small), large, least)
    if not found.is_linear and found.large < limit:
        small += _times(job, shape, size, 5, limit)
        large = min(large, _large(job, shape, size, median(small), 4, limit))
        found = Growth(size, median(small), large, least)
    return found


def _large(
    job: Job, shape: Callable[[int], Made], size: int, small: float, count: int, limit: float
) -> float:
    """Seconds at four times the size; ``limit`` if they are more than that."""
    try:
        return min(_times(job, shape, FACTOR * size, count, max(limit, 20 * small)))
    except TooSlow:
        return max(limit, 20 * small)


def _times(
    job: Job, shape: Callable[[int], Made], size: int, count: int, limit: float
) -> list[float]:
    """The processor times of some runs, each with what is prepared for it again."""
    times: list[float] = []
    made = shape(size)
    for _ in range(count):
        work = job(made)
        gc.collect()
        gc.disable()
        try:
            with _limited(limit):
                begin = time.thread_time()
                work()
                times.append(time.thread_time() - begin)
        finally:
            gc.enable()
    return times


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
