"""What functions do with their arguments first: promotion of dtypes, axes, sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from keras.src.backend import config
from keras.src.backend.common import standardize_dtype
from keras.src.backend.common.backend_utils import canonicalize_axis
from keras.src.backend.common.dtypes import result_type

from keras_drystone.src.ops.core import cast, convert_to_tensor

__all__ = [
    "alike", "axes_of", "floating", "is_integer", "kind_of", "like", "one_axis", "promoted", "sizes"
]  # fmt: skip


def kind_of(x: Any) -> str:
    """The dtype's name."""
    found: str = standardize_dtype(x.dtype)
    return found


def is_integer(kind: str) -> bool:
    """Whether a dtype is of integers or booleans."""
    return "int" in kind or kind == "bool"


def floating(x: Any, *, wide: bool = False) -> Any:
    """A tensor of floats: of integers, those of the configuration (``float64`` of ``int64``)."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    if kind == "int64":
        return cast(x, "float64" if wide else config.floatx())
    return cast(x, result_type(kind, float)) if is_integer(kind) else x


def promoted(*values: Any, also: Sequence[Any] = ()) -> list[Any]:
    """Tensors of the dtype that Keras gives a function of such values, and of ``also``."""
    given = [v if isinstance(v, int | float | complex) else convert_to_tensor(v) for v in values]
    kind = result_type(*[getattr(v, "dtype", type(v)) for v in given], *also)
    return [convert_to_tensor(v, kind) for v in given]


def alike(values: Sequence[Any]) -> list[Any]:
    """Tensors of one dtype; those that have it already keep it."""
    given = [convert_to_tensor(v) for v in values]
    kinds = {kind_of(v) for v in given}
    return given if len(kinds) < 2 else [cast(v, result_type(*kinds)) for v in given]


def like(value: Any, x: Any) -> Any:
    """A number as a tensor of another one's dtype."""
    return convert_to_tensor(value, kind_of(x))


def axes_of(x: Any, axis: Any) -> Any:
    """Axes as an array; all without any."""
    if axis is None:
        return np.arange(x.ndim, dtype=np.int32)
    chosen = axis if isinstance(axis, list | tuple) else [axis]
    return np.asarray([canonicalize_axis(int(a), x.ndim) for a in chosen], np.int32)


def one_axis(axis: Any, rank: int) -> int:
    """An axis as a number from 0 on."""
    found: int = canonicalize_axis(int(axis), rank)
    return found


def sizes(shape: Any) -> Any:
    """A shape as a tensor; its sizes may be symbolic."""
    if not isinstance(shape, list | tuple) and getattr(shape, "ndim", 0) == 0:
        shape = [shape]
    if isinstance(shape, list | tuple):
        shape = [-1 if d is None else d for d in shape]
        if not shape:
            return np.zeros(0, np.int32)
    return cast(convert_to_tensor(shape), "int32")
