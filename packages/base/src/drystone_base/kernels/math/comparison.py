"""Comparisons, logic, selection and clipping. Source: TensorFlow ops of the same names."""

from __future__ import annotations

from typing import Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.math._elementwise import Function, broadcast_shape

_ORDERINGS: Final[dict[str, Function]] = {
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
}


def _predicate(function: Function) -> Function:
    """A kernel that gives one bool for each broadcast pair."""

    @quiet
    def run(call: Call, x: Array, y: Array) -> Array:
        broadcast_shape(call, x, y)
        return np.asarray(function(widen(x), widen(y)), dtype=np.bool_)

    return run


for _op, _function in _ORDERINGS.items():
    kernel(_op)(_predicate(_function))

_SAME: Final = {"Equal": np.equal, "NotEqual": np.not_equal}


@kernel("Equal", "NotEqual")
@quiet
def equal(call: Call, x: Array, y: Array) -> Array:
    """Whether pairs are equal (or not); strings compare by bytes.

    Shapes that do not broadcast are refused, or make the whole tensors unequal when
    ``incompatible_shape_error`` is false.
    """
    if not call.attrs["incompatible_shape_error"]:
        try:
            np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            return np.asarray(call.op == "NotEqual")
    broadcast_shape(call, x, y)
    return np.asarray(_SAME[call.op](widen(x), widen(y)), dtype=np.bool_)


@kernel("Select")
def select(call: Call, condition: Array, then: Array, other: Array) -> Array:
    """``then`` where the condition holds, else ``other``; these two have one shape.

    The condition has that shape too, or is a scalar, or a vector that chooses whole rows.
    """
    call.require(
        then.shape == other.shape,
        "both branches must have one shape",
        found=f"{list(then.shape)} and {list(other.shape)}",
        needed="equal shapes",
    )
    if condition.shape != then.shape and condition.ndim > 0:
        rows = condition.ndim == 1 and then.ndim >= 1 and len(condition) == len(then)
        call.require(
            rows,
            "the condition must fit the branches",
            found=f"condition {list(condition.shape)}, branches {list(then.shape)}",
            needed="a scalar, the branches' shape, or a vector as long as their first dimension",
        )
        condition = condition.reshape(-1, *([1] * (then.ndim - 1)))
    return np.where(condition, then, other)


@kernel("SelectV2")
def select_v2(call: Call, condition: Array, then: Array, other: Array) -> Array:
    """``then`` where the condition holds, else ``other``, with all three broadcast."""
    broadcast_shape(call, condition, then, other)
    return np.where(condition, then, other)


@kernel("ClipByValue")
@quiet
def clip_by_value(call: Call, t: Array, low: Array, high: Array) -> Array:
    """``t`` limited to ``[low, high]``; ``low`` wins where the limits cross, NaN stays.

    Each limit is a scalar or has the shape of ``t``.
    """
    for limit in (low, high):
        call.require(
            not limit.ndim or limit.shape == t.shape,
            "a limit must be a scalar or have the tensor's shape",
            found=f"limit {list(limit.shape)}, tensor {list(t.shape)}",
        )
    below = np.where(widen(high) < widen(t), high, t)
    return np.where(widen(below) < widen(low), low, below)
