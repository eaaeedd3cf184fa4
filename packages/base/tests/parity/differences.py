"""Where we answer otherwise than TensorFlow on purpose, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracle import Case

__all__ = ["DIFFERENCES", "Difference", "known_difference"]


@dataclass(frozen=True)
class Difference:
    """Ops, what makes a case of theirs differ, and the reason."""

    ops: str
    reason: str
    when: Callable[[Case, Any], bool]


DIFFERENCES: tuple[Difference, ...] = ()


def known_difference(item: Case, want: Any) -> Difference | None:
    """The documented difference that a case falls under."""
    rows = (d for d in DIFFERENCES if item.op in d.ops.split())
    return next((d for d in rows if d.when(item, want)), None)
