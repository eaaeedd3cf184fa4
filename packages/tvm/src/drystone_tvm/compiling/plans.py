"""What may be chosen of how a region is computed."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DEFAULT", "Plan"]


class Plan(NamedTuple):
    """Choices of a schedule; none of them changes what is computed, or the order of a sum.

    ``lanes``: the most elements of a vector. ``rows`` and ``columns``: of the result of a
    reduction, how many rows, and how many vectors of a row, are summed side by side in registers.
    ``again``: nodes of an expression that each of its readers may compute. ``threads_from``:
    the steps of a loop nest that are worth threads.
    """

    lanes: int = 16
    rows: int = 4
    columns: int = 2
    again: int = 12
    threads_from: int = 1 << 15


DEFAULT = Plan()
