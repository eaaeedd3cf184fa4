"""Plans to try: those that differ little from the best so far."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

from drystone_tvm.compiling.plans import Plan

__all__ = ["CHOICES", "neighbours"]

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


def neighbours(plan: Plan, chance: random.Random) -> Iterator[Plan]:
    """Plans with one to three other choices, without end."""
    while True:
        names = chance.sample(sorted(CHOICES), chance.randint(1, _MOST_CHANGED))
        yield plan._replace(**{name: chance.choice(CHOICES[name]) for name in names})
