"""Reductions, orders and sums along the dimensions of one example."""

from __future__ import annotations

from drystone_base.inference.batch_rules._registry import SHARED, BatchRuleCall, Rows, axis_of, rows

__all__: list[str] = []


@rows("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "ReverseV2", "Sum")
def along_axes(c: BatchRuleCall) -> Rows | None:
    """Those of the input, where the first dimension is none of the axes."""
    axes = c.value(1)
    if not c.only(0) or axes is None:
        return None
    rank = c.rank()
    return None if any(int(a) % rank == 0 for a in axes.reshape(-1)) else c.rows[0]


@rows("ArgMax", "ArgMin", "Cumprod", "Cumsum")
def along_an_axis(c: BatchRuleCall) -> Rows | None:
    """Those of the input, where the axis is not the first."""
    return c.rows[0] if c.only(0) and axis_of(c, 1, c.rank()) else None


@rows("TopKV2")
def top(c: BatchRuleCall) -> Rows | None:
    """Those of the input, of vectors or more."""
    return c.rows[0] if c.rows[1] == SHARED and c.rank() > 1 else None
