"""What a documented difference is, and what makes cases differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import oracle
from oracle import Case

__all__ = ["Difference", "answers", "both", "has", "not_finite", "says", "values"]


@dataclass(frozen=True)
class Difference:
    """Ops, the reason, and what makes a case of theirs differ for that reason.

    ``only``: the executor that differs, where not all do: ``"cpu"`` for drystone-cpu's kernels.
    """

    ops: str
    reason: str
    when: Callable[[Case, Any], bool]
    only: str = ""


def answers(item: Case, want: Any) -> bool:
    """TensorFlow gives outputs where we refuse: it did not look."""
    return not isinstance(want, str) and isinstance(oracle.ours(item), str)


def has(*values: float) -> Callable[[Case, Any], bool]:
    """An input holds one of the values."""

    def when(item: Case, _: Any) -> bool:
        floats = [np.asarray(v).astype(np.float64) for v in item.inputs]
        wanted = np.array(values)
        return any(
            np.isin(v, wanted).any() or (np.isnan(wanted).any() and np.isnan(v).any())
            for v in floats
        )

    return when


def not_finite(item: Case, _: Any) -> bool:
    """An input holds NaN or an infinity."""
    kinds = [np.asarray(v) for v in item.inputs if np.asarray(v).dtype.kind in "fcV"]
    return any(not np.isfinite(v.astype(np.complex128)).all() for v in kinds)


def says(text: str) -> Callable[[Case, Any], bool]:
    """TensorFlow refuses, with this among what it says."""
    return lambda _, want: isinstance(want, str) and text in getattr(want, "message", "")


def both(item: Case, want: Any) -> list[tuple[Any, Any]]:
    """Our outputs beside TensorFlow's; none where one of us refuses."""
    got = oracle.ours(item)
    if isinstance(got, str) or isinstance(want, str):
        return []
    return list(zip(map(np.asarray, got), map(np.asarray, want), strict=False))


def values(when: Callable[[Case, Any], bool]) -> Callable[[Case, Any], bool]:
    """The same where TensorFlow does not refuse."""
    return lambda item, want: not isinstance(want, str) and when(item, want)
