"""The edit distance between the sequences of two sparse tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from drystone_base.kernels._indices import bad_rows
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.sparse._sparse import check_elements, check_sparse

__all__: list[str] = []


def _distance(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Insertions, deletions and substitutions that make ``b`` of ``a`` (Levenshtein 1966)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            best = min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
            diagonal, row[j] = row[j], best
    return row[-1]


def _sequences(indices: Array, values: Array) -> dict[tuple[int, ...], list[Any]]:
    out: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        out.setdefault(tuple(place), []).append(value)
    return out


@kernel("EditDistance")
def edit_distance(call: Call, *args: Array) -> Array:
    """The distance of each hypothesis from its truth, divided by the truth's length if asked.

    Sequences lie along the last dimension. Divided by an empty truth it is infinite, or 0 when
    both are empty.
    """
    guess, truth = args[:3], args[3:]
    check_sparse(call, guess[0], guess[1], guess[2], "hypothesis'")
    check_sparse(call, truth[0], truth[1], truth[2], "truth's")
    for part in (guess, truth):
        check_elements(call, part[2])
    call.require(
        guess[2].size == truth[2].size >= 2,
        "both tensors must have one rank, 2 or more",
        found=f"ranks {guess[2].size} and {truth[2].size}",
        needed="equal ranks",
    )
    lead = np.maximum(guess[2], truth[2])[:-1].tolist()
    for part in (guess, truth):
        bad_rows(call, part[0][:, :-1], lead)
    out = np.zeros(check_size(call, lead, np.dtype(np.float32)), np.float32)
    guesses, truths = _sequences(guess[0], guess[1]), _sequences(truth[0], truth[1])
    for place in guesses.keys() | truths.keys():
        wanted = truths.get(place, [])
        distance: float = _distance(guesses.get(place, []), wanted)
        if call.attrs["normalize"]:
            distance = distance / len(wanted) if wanted else math.inf
        out[place] = distance
    return out
