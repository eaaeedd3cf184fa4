"""Registration of rules that say which rows of a node's outputs belong to an example.

A value *has rows of examples* where dimension 0 holds, one example after another, as many rows of
each, and what they hold depends on that example alone. A rule says of which outputs that is so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from drystone_base.core.families import Families

__all__ = [
    "RULES", "SHARED", "SIZES", "BatchRuleCall", "Rows", "Rule", "along", "axis_of", "common",
    "number", "rows",
]  # fmt: skip

SHARED: Final = 0
"""Rows of a value that is the same whatever the batch holds."""

SIZES: Final = -1
"""Rows of integers that were worked out from shapes of batches: they follow the batch's size."""

Rows: TypeAlias = int
"""Rows of one example along dimension 0, or ``SHARED``, or ``SIZES``."""


class BatchRuleCall(NamedTuple):
    """What a rule is told of its node. At least one input is not ``SHARED``.

    ``shapes`` and ``outputs``: shapes of inputs and outputs, None where not even the rank is known;
    of a value that has rows of examples all dimensions but the first are numbers. ``value``: the
    value of an input, if it is a known constant.
    """

    op: str
    attrs: Mapping[str, Any]
    rows: Sequence[Rows]
    shapes: Sequence[tuple[int, ...] | None]
    outputs: Sequence[tuple[int, ...] | None]
    value: Callable[[int], np.ndarray[Any, Any] | None]

    def only(self, index: int) -> bool:
        """Whether input ``index`` has rows of examples and all others are shared."""
        return all((r > 0) if k == index else r == SHARED for k, r in enumerate(self.rows))

    def rank(self, index: int = 0) -> int:
        """Rank of an input that has rows of examples."""
        shape = self.shapes[index]
        assert shape is not None
        return len(shape)


Rule: TypeAlias = Callable[[BatchRuleCall], Rows | Sequence[Rows] | None]
"""Gives the rows of all outputs, one for each or one for all; None: it cannot be said."""

RULES: Final[Families[Rule]] = Families(
    "drystone_base.inference.batch_rules", "a rule for examples"
)


def rows(*ops: str) -> Callable[[Rule], Rule]:
    """Register the decorated rule for ``ops``."""
    return RULES.register(*ops)


def along(c: BatchRuleCall, *beside: int, broadcasts: bool = True) -> Rows | None:
    """Rows of what is computed row by row from inputs that are broadcast to the first output.

    Inputs ``beside`` are not: they must be shared. ``broadcasts``: one row may stand for all;
    where it may not, one example alone would be taken to fit it.
    """
    output = c.outputs[0]
    found = SHARED
    for k, (own, shape) in enumerate(zip(c.rows, c.shapes, strict=True)):
        if k in beside and own == SHARED:
            continue
        if k in beside or own < 0 or shape is None or output is None:
            return None
        if own == SHARED:
            if len(shape) >= len(output) and not (broadcasts and shape[0] == 1):
                return None
        elif len(shape) != len(output) or found not in (SHARED, own):
            return None
        else:
            found = own
    return found


def common(parts: Sequence[Rows]) -> Rows | None:
    """The rows that all of these have; None where they differ or are not of examples."""
    return parts[0] if min(parts) == max(parts) > 0 else None


def number(c: BatchRuleCall, index: int) -> int | None:
    """An input that is one constant number; None where it is not known."""
    value = c.value(index)
    return int(value.reshape(-1)[0]) if value is not None and value.size == 1 else None


def axis_of(c: BatchRuleCall, index: int, rank: int) -> int | None:
    """A constant axis counted from the front; None where it is not known or is dimension 0."""
    axis = number(c, index)
    return None if axis is None or not rank else axis % rank or None
