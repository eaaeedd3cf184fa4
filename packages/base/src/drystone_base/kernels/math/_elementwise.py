"""What elementwise kernels share: broadcasting, the result's dtype, quiet arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels._widen import quiet, widen

__all__ = ["Function", "binary", "broadcast_shape", "unary"]

Function: TypeAlias = Callable[..., Any]


def broadcast_shape(call: Call, *arrays: Array) -> tuple[int, ...]:
    """The common shape of the arrays; INVALID_ARGUMENT when they do not broadcast."""
    shapes = [a.shape for a in arrays]
    if all(s == shapes[0] for s in shapes):
        return tuple(shapes[0])
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        call.fail(
            "shapes must broadcast",
            found=" and ".join(str(list(s)) for s in shapes),
            needed="dimensions that are equal, or 1, counted from the right",
        )


def unary(function: Function) -> Callable[[Call, Array], Array]:
    """A kernel that applies ``function`` to each element and keeps shape and dtype."""

    @quiet
    def run(_: Call, x: Array) -> Array:
        return np.asarray(function(widen(x))).astype(x.dtype, copy=False)

    return run


def binary(function: Function) -> Callable[[Call, Array, Array], Array]:
    """A kernel that applies ``function`` to broadcast pairs and keeps the dtype."""

    @quiet
    def run(call: Call, x: Array, y: Array) -> Array:
        broadcast_shape(call, x, y)
        return np.asarray(function(widen(x), widen(y))).astype(x.dtype, copy=False)

    return run
