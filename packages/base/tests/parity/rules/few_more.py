"""Banded solves, approximate top-k, borders fused into convolutions, groups of devices."""

from typing import Any

import numpy as np

from parity.draft import Draft, Rule
from parity.drawers import choice, shaped


def _bands(d: Draft) -> Any:
    shape = (d.dim("k"), d.dim("m"))
    made = d.tensor(d.making, shape, False)
    return made + np.where(made.real < 0, -2, 2).astype(made.dtype)


def _borders(d: Draft) -> Any:
    top = 2 if d["mode"] == "SYMMETRIC" else 1
    out = np.zeros((4, 2), np.int32)
    out[1:3] = d.rng.integers(0, top + 1, (2, 2))
    return out


# One image: of more, TensorFlow answers for all but the first with values of none.
_PAD = {
    "input": shaped("1 h w c", False),
    "filter": shaped("2 2 c o", False),
    "paddings": _borders,
    "mode": choice("REFLECT", "SYMMETRIC"),
    "strides": choice([1, 1, 1, 1], [1, 2, 2, 1]),
    "padding": choice("SAME", "VALID"),
}
_SIZES = {"h": (3, 6), "w": (3, 6), "c": (1, 3), "o": (1, 3)}

RULES: dict[str, Rule] = {
    "BandedTriangularSolve": Rule(
        {"matrix": _bands, "rhs": shaped("m n", False)},
        {"k": (1, 3), "m": (3, 5), "n": (1, 3)},
        special=False,
        tol=40,
        why="solved as a dense matrix",
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
    "FusedPadConv2D": Rule(_PAD, _SIZES, tol=8, why="sums in another order", spoil=False),
    "FusedResizeAndPadConv2D": Rule(
        _PAD | {"size": lambda d: d.rng.integers(3, 7, 2).astype(np.int32)},
        _SIZES,
        tol={"float64": 1e5, "float32": 20.0, "float16": 20.0},
        why="resized in float32, also where the type is float64",
        spoil=False,
    ),
}
