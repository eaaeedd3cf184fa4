"""Which form of a case a runtime takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

__all__ = ["Array", "NoForm", "Prepared", "choose"]

Array: TypeAlias = np.ndarray[Any, Any]
Prepared: TypeAlias = tuple[Callable[..., list[Array]], Callable[[], object] | None]
"""A run of the fed arrays, in order, and what brings variables back to their first values."""


class NoForm(Exception):
    """The case does not exist in a form that the runtime takes."""


def choose(case: Mapping[str, Any], *forms: str) -> tuple[str, str]:
    """The first of ``forms`` that the case has, with its file."""
    for form in forms:
        if form in case["forms"]:
            return form, case["forms"][form]
    raise NoForm(f"takes {' or '.join(forms)}; there is {' and '.join(case['forms'])}")
