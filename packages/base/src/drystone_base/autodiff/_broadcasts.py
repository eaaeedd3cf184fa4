"""Over which axes what was broadcast is summed, as far as shapes say so before a run."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["summed_axes"]


def summed_axes(shape: Sequence[int] | None, other: Sequence[int] | None) -> list[int] | None:
    """Axes of the result along which an operand was broadcast; None where its shape leaves it open.

    Sizes below 0 are unknown; below -1 equal ones stand for equal sizes.
    """
    if shape is None or other is None:
        return None
    rank = max(len(shape), len(other))
    axes = list(range(rank - len(shape)))
    for k in range(min(len(shape), len(other)), 0, -1):
        own, its = shape[-k], other[-k]
        if own == 1 != its:
            axes.append(rank - k)  # nothing is summed where the other one's size is 1, too
        elif own < 0 and its != 1 and (own != its or own == -1):
            return None
    return axes
