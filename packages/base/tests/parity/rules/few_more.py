"""Approximate top-k."""

from parity.draft import Rule
from parity.drawers import choice


RULES: dict[str, Rule] = {
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
