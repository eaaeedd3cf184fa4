"""Trying plans on a region: what is right, what is fastest, and whether that is worth keeping."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.cli.kit import duration
from drystone_tvm.backend.backend import opened
from drystone_tvm.backend.measured import measure
from drystone_tvm.compiling.building import build, schedule_text
from drystone_tvm.compiling.plans import DEFAULT, Plan
from drystone_tvm.compiling.tuned import Tuning, keep
from drystone_tvm.tuning.search import Found, improved
from drystone_tvm.tuning.survey import Region

__all__ = ["Tuned", "tune_regions"]

_TOLERANCE: Final = 1e-4
_LEAST: Final = 4.0
"""Seconds that a region is tried, if it is."""

Array = np.ndarray[Any, Any]


class Tuned(NamedTuple):
    """What came of a region: seconds of a call, and how many plans were tried."""

    region: Region
    tuning: Tuning
    tried: int
    kept: bool


class _Clock:
    """When to end: at a time, or at Ctrl-C."""

    def __init__(self, seconds: float) -> None:
        self.until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self.until - time.monotonic()

    def stop(self) -> None:
        self.until = -math.inf


def tune_regions(
    regions: Sequence[Region], budget: float, tell: Callable[[str], None]
) -> list[Tuned]:
    """Tune regions for ``budget`` seconds in all, each by its share of the model's time.

    Those that take most come first; what the time does not suffice for is not tried. Ctrl-C ends
    it with what was found.
    """
    clock = _Clock(budget)
    found: list[Tuned] = []
    with suppress(KeyboardInterrupt):
        for region, share in _shares(regions):
            if clock.left <= 0:
                break
            found.append(_tune(region, max(share * budget, _LEAST), clock, tell))
    return found


def _shares(regions: Sequence[Region]) -> list[tuple[Region, float]]:
    """Which part of the time of all is that of each, the largest first."""
    times = []
    for region in regions:
        call, arrays = region.own(), region.arrays()
        call(arrays)
        begin = time.perf_counter()
        call(arrays)
        times.append((time.perf_counter() - begin) * region.calls)
    whole = sum(times) or 1.0
    pairs = [(region, seconds / whole) for region, seconds in zip(regions, times, strict=True)]
    return sorted(pairs, key=lambda pair: -pair[1])


def _tune(region: Region, seconds: float, clock: _Clock, tell: Callable[[str], None]) -> Tuned:
    """Try plans for so many seconds, one at least; keep the best where it beats drystone's own."""
    work = _Work(region)
    untuned = work.time(DEFAULT)
    best, end = Found(DEFAULT, untuned), _Clock(min(seconds, clock.left))
    try:
        for found in improved(best, work.time, work.is_new, lambda: end.left > 0):
            best = found
            times = f"{duration(best.seconds)}, {duration(work.own)} by drystone"
            tell(f"{region.name}: plan {work.tried}, {times}")
    except KeyboardInterrupt:
        clock.stop()
    return _settled(work, Tuning(best.plan, work.own, untuned, best.seconds))


def _settled(work: _Work, found: Tuning) -> Tuned:
    """Measure the best once more, beside drystone's own, and keep it where it is faster."""
    region = work.region
    tuned = found._replace(tuned=work.time(found.plan), own=work.own)
    kept = tuned.tuned < tuned.own and keep(region.key, tuned, " ".join(region.ops))
    return Tuned(region, tuned, work.tried, kept)


class _Work:
    """A region, its own kernels and the numbers that it is tried on."""

    def __init__(self, region: Region) -> None:
        self.region, self.arrays = region, region.arrays()
        self.own_call = region.own()
        with np.errstate(all="ignore"):
            self.expected = self.own_call(self.arrays)
        self.own = float("inf")
        self.tried = 0
        self._seen: set[str] = {schedule_text(*region.parts(), DEFAULT)}

    def is_new(self, plan: Plan) -> bool:
        """Whether a plan makes other code than those before."""
        text = schedule_text(*self.region.parts(), plan)
        new = text not in self._seen
        self._seen.add(text)
        return new

    def time(self, plan: Plan) -> float:
        """Seconds of a call of what a plan makes; without end where that is wrong."""
        self.tried += 1
        with tempfile.TemporaryDirectory(prefix="drystone-tvm-") as folder:
            path = Path(folder) / "region.so"
            parts = self.region.parts()
            build(parts.graph, parts.arguments, parts.results, path, target="native", plan=plan)
            made = opened(path)
        if not _agree(made(self.arrays), self.expected):
            return float("inf")
        times = measure(made, self.own_call, self.arrays)
        self.own = min(self.own, times.own)
        return times.compiled


def _agree(found: Sequence[Array], expected: Sequence[Array]) -> bool:
    """Whether results are those of drystone's own kernels, within what sums may differ."""
    for x, y in zip(found, expected, strict=True):
        spread = float(np.std(y)) if y.size and y.dtype.kind == "f" else 0.0
        with np.errstate(all="ignore"):
            near = np.abs(x - y) <= _TOLERANCE * (np.abs(y) + spread) if spread else x == y
        same_nan = (x != x) & (y != y)
        if not np.all(near | (x == y) | same_nan):
            return False
    return True
