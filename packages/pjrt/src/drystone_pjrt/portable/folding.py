"""Whole numbers that follow from sizes: what a program computes of them is known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from drystone_pjrt.portable.inferred import base_of, whole
from drystone_pjrt.portable.vhlo import Attribute, Tensor, Text

__all__ = ["divided", "folded", "remainder"]

Array = np.ndarray[Any, Any]

_MOST: Final = 256
"""Elements of the largest array that is kept."""


def divided(a: Array, b: Array) -> Array:
    """The quotient towards zero; 0 by 0, which nothing reads."""
    safe = np.where(b == 0, 1, b)
    size = np.abs(a) // np.abs(safe)
    return np.where((a < 0) == (safe < 0), size, -size)


def remainder(a: Array, b: Array) -> Array:
    """What the quotient leaves, with the sign of ``a``."""
    return np.asarray(a - divided(a, b) * b)


_SIMPLE: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": np.abs, "add": np.add, "and": np.bitwise_and, "divide": divided,
    "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply,
    "negate": np.negative, "not": np.invert, "or": np.bitwise_or, "remainder": remainder,
    "select": np.where, "sign": np.sign, "subtract": np.subtract, "xor": np.bitwise_xor,
    "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
}  # fmt: skip
_COMPARED: Final = {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal,
                    "GT": np.greater, "LE": np.less_equal, "LT": np.less}  # fmt: skip


def folded(
    op: str, given: Sequence[Array | None], attrs: Mapping[str, Attribute], kind: Tensor
) -> Array | None:
    """The value of an op, or None where it is not known."""
    arrays = [array for array in given if array is not None]
    size = int(np.prod(kind.shape, dtype=np.int64))
    if len(arrays) < len(given) or not arrays or size > _MOST or kind.dtype.kind not in "iub":
        return None
    base = base_of(op)
    if base in _SIMPLE:
        made = _SIMPLE[base](*arrays)
    elif base == "compare":
        how = attrs["comparison_direction"]
        assert isinstance(how, Text)
        made = _COMPARED[how.value](*arrays)
    elif base == "concatenate":
        made = np.concatenate(arrays, whole(attrs, "dimension")[0])
    elif base == "slice":
        bounds = (whole(attrs, name) for name in ("start_indices", "limit_indices", "strides"))
        made = arrays[0][tuple(slice(*row) for row in zip(*bounds, strict=True))]
    elif base == "broadcast_in_dim":
        made = _spread(arrays[0], whole(attrs, "broadcast_dimensions"), kind.shape)
    elif base in ("convert", "reshape"):
        made = arrays[0]
    else:
        return None
    return np.asarray(made).astype(kind.dtype).reshape(kind.shape)


def _spread(array: Array, axes: Sequence[int], shape: tuple[int, ...]) -> Array:
    between = [1] * len(shape)
    for axis, n in zip(axes, array.shape, strict=True):
        between[axis] = n
    return np.broadcast_to(array.reshape(between), shape)
