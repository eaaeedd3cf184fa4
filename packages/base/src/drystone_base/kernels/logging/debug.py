"""What TensorFlow's debugger puts into graphs: values passed on, and their health as numbers.

Source: TensorFlow ops DebugIdentity, DebugNanCount, DebugNumericSummary and their later forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import from_numpy
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet

__all__: list[str] = []

_SHAPE_SLOTS: Final = 6
_MOST_ID: Final = {np.dtype(np.float32): 1 << 24, np.dtype(np.float64): 1 << 53}


def _gated(call: Call) -> bool:
    """Whether the op waits for a debugger, and so gives nothing.

    Refuses a watch that sends its values somewhere, and a name that is no tensor's.
    """
    urls = call.attrs["debug_urls"]
    call.require(
        not urls,
        "a debug op's values are not sent anywhere",
        found=urls,
        needed="no debug_urls",
        remedy="fetch the node's output instead",
        status="UNIMPLEMENTED",
    )
    if call.op == "DebugIdentityV2":
        return False
    name = str(call.attrs["tensor_name"])
    node, _, slot = name.partition(":")
    call.require(
        name and ":" not in slot and (slot.removeprefix("-").isdecimal() or node == name),
        "tensor_name must name a tensor",
        found=name,
        needed="node:k",
    )
    return bool(call.attrs["gated_grpc"])


@kernel("DebugIdentity", "DebugIdentityV2", "DebugIdentityV3")
def debug_identity(call: Call, x: Array) -> Array:
    """The input itself; an empty vector with ``gated_grpc``, as no debugger ever opens the gate."""
    return np.empty(0, x.dtype) if _gated(call) else x


@kernel("DebugGradientIdentity", "DebugGradientRefIdentity")
def debug_gradient_identity(_: Call, x: Any) -> Any:
    """The input itself: an array, or a variable for a reference."""
    return x


@kernel("DebugNanCount")
def debug_nan_count(call: Call, x: Array) -> Array:
    """How many values are NaN, int64 [1]."""
    return np.array([] if _gated(call) else [_count(np.isnan, x)], np.int64)


def _count(test: Callable[[Any], Any], x: Array) -> int:
    return int(np.count_nonzero(test(x)))


@kernel("DebugNumericSummary")
@quiet
def debug_numeric_summary(call: Call, x: Array) -> Array:
    """Counts and moments, float64 [14 + rank].

    1, size; how many are NaN, at most ``lower_bound``, negative, zero, positive, at least
    ``upper_bound``; minimum, maximum, mean and variance of the finite ones; dtype, rank and shape.
    """
    if _gated(call):
        return np.empty(0)
    low, high = call.attrs["lower_bound"], call.attrs["upper_bound"]
    wide = x.reshape(-1).astype(np.float64)
    finite = wide[np.isfinite(wide)]
    below, above = wide <= low, (wide >= high) & ~(wide <= low)
    between = wide[~(below | above | np.isnan(wide))]
    counts = [
        _count(np.isnan, wide),
        np.count_nonzero(below | (wide == -np.inf)),
        _count(lambda v: v < 0, between),
        _count(lambda v: v == 0, between),
        _count(lambda v: v > 0, between),
        np.count_nonzero(above),
    ]
    moments = [np.inf, -np.inf, np.nan, np.nan]
    if finite.size:
        moments = [finite.min(), finite.max(), finite.mean(), finite.var()]
    kind = from_numpy(x.dtype).number
    return np.array([1, x.size, *counts, *moments, kind, x.ndim, *x.shape], np.float64)


def _health(x: Array) -> list[int]:
    """How many are minus infinity, infinity and NaN."""
    return [
        _count(lambda v: v == -np.inf, x),
        _count(lambda v: v == np.inf, x),
        _count(np.isnan, x),
    ]


def _full_health(x: Array) -> list[int]:
    finite = x[np.isfinite(x)]
    signs = [_count(lambda v: v < 0, finite), _count(lambda v: v == 0, finite)]
    head = [-1, from_numpy(x.dtype).number, x.ndim, x.size]
    return [*head, *_health(x), *signs, finite.size - sum(signs)]


def _shape(x: Array) -> list[int]:
    """Dtype, rank, size and the last dimensions, filled up with zeros."""
    dims = list(x.shape[-_SHAPE_SLOTS:])
    rest = [0] * (_SHAPE_SLOTS - len(dims))
    return [from_numpy(x.dtype).number, x.ndim, x.size, *dims, *rest]


def _slots(x: Array) -> list[float]:
    """Minus infinity, infinity and NaN where they occur, else zero."""
    marks = (-np.inf, np.inf, np.nan)
    return [mark if count else 0.0 for mark, count in zip(marks, _health(x), strict=True)]


_CURT, _CONCISE, _FULL, _SHAPE, _SLOTS = 2, 3, 4, 5, 8


@kernel("DebugNumericSummaryV2")
@quiet
def debug_numeric_summary_v2(call: Call, x: Array) -> Array:
    """What ``tensor_debug_mode`` asks for, after ``tensor_id``: health, counts or shape."""
    mode, dtype = call.attrs["tensor_debug_mode"], call.attrs["output_dtype"].np
    modes: dict[int, Callable[[Array], list[Any]]] = {
        _CURT: lambda v: [int(any(_health(v)))],
        _CONCISE: lambda v: [v.size, *_health(v)],
        _FULL: _full_health,
        _SHAPE: _shape,
        _SLOTS: _slots,
    }
    number = call.attrs["tensor_id"]
    call.require(
        number <= _MOST_ID[dtype] or mode == _SLOTS,
        "tensor_id must fit the output's type exactly",
        found=number,
        needed=f"at most {_MOST_ID[dtype]}",
    )
    call.require(
        mode in modes,
        "tensor_debug_mode must be one that is known",
        found=mode,
        needed=", ".join(map(str, modes)),
        status="UNIMPLEMENTED",
    )
    head = [] if mode == _SLOTS else [number]
    return np.array([*head, *modes[mode](x)], dtype)
