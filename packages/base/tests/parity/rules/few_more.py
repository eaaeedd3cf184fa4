"""Banded solves and approximate top-k."""

from typing import Any

import numpy as np

from parity.draft import Draft, Rule
from parity.drawers import choice, shaped


def _bands(d: Draft) -> Any:
    shape = (d.dim("k"), d.dim("m"))
    made = d.tensor(d.making, shape, False)
    return made + np.where(made.real < 0, -2, 2).astype(made.dtype)


RULES: dict[str, Rule] = {
    "BandedTriangularSolve": Rule(
        {"matrix": _bands, "rhs": shaped("m n", False)},
        {"k": (1, 3), "m": (3, 5), "n": (1, 3)},
        special=False,
        tol=4,
        why="sums in another order",
        spoil=False,
    ),
    "ApproxTopK": Rule(
        {
            "k": lambda d: d.size(0, 3),
            "input": lambda d: d.tensor("input", (*d.any_shape(2), 5), False),
            "reduction_dimension": choice(-1),
            "is_max_k": choice(True),
        },
        spoil=False,
    ),
}
