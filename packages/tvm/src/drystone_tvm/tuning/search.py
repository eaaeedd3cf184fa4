"""The search for a plan: those are tried that differ little from the best so far."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from drystone_tvm.compiling.plans import Plan

__all__ = ["CHOICES", "Found", "improved", "neighbours"]

_NEVER: Final = 1 << 62
CHOICES: Final[dict[str, Sequence[int]]] = {
    "lanes": (4, 8, 16, 32, 64),
    "rows": (1, 2, 3, 4, 6, 8, 12, 14),
    "columns": (1, 2, 3, 4, 6),
    "again": (0, 12, 60),
    "threads_from": (1 << 12, 1 << 15, 1 << 18, _NEVER),
}
"""What each part of a plan may be."""
_MOST_CHANGED: Final = 3
_FEW_LEFT: Final = 60
"""Plans in a row that make nothing new: then there is hardly any other."""


class Found(NamedTuple):
    """A plan, and the seconds that a call of what it makes takes."""

    plan: Plan
    seconds: float


def improved(
    found: Found,
    time: Callable[[Plan], float],
    is_new: Callable[[Plan], bool],
    goes_on: Callable[[], bool],
) -> Iterator[Found]:
    """The best so far after each plan that was timed, until ``goes_on`` ends it or few are left."""
    chance, idle = random.Random(0), 0
    while goes_on() and idle < _FEW_LEFT:
        trial = next(neighbours(found.plan, chance))
        idle += 1
        if not is_new(trial):
            continue
        idle, seconds = 0, time(trial)
        if seconds < found.seconds:
            found = Found(trial, seconds)
        yield found


def neighbours(plan: Plan, chance: random.Random) -> Iterator[Plan]:
    """Plans with one to three other choices, without end."""
    while True:
        names = chance.sample(sorted(CHOICES), chance.randint(1, _MOST_CHANGED))
        yield plan._replace(**{name: chance.choice(CHOICES[name]) for name in names})
