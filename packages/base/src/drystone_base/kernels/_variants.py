"""Values that stand for nothing yet, and what ZerosLike and AddN mean for variant tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import STRING, DType
from drystone_base.core.errors import KernelError
from drystone_base.kernels._registry import Array
from drystone_base.state.variables import handle_array

__all__ = ["add_variants", "blank", "register_variant", "zeros_like_variants"]

_RULES: Final[dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]]] = {}


def blank(shape: tuple[int, ...], dtype: DType) -> Array:
    """Zeros, empty strings, or None for resources and variants."""
    if dtype.is_object:
        return np.full(shape, b"" if dtype is STRING else None, dtype=object)
    return np.zeros(shape, dtype.np)


def register_variant(
    kind: type, *, zeros_like: Callable[[Any], Any], add: Callable[[Any, Any], Any]
) -> None:
    """Say how ZerosLike and AddN work on variants that hold a ``kind``."""
    _RULES[kind] = (zeros_like, add)


def _rule(value: object) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    rule = _RULES.get(type(value))
    if rule is None:
        raise KernelError(
            "a variant cannot be added or zeroed",
            check="a variant must hold a kind of value that has a zero and a sum",
            found=type(value).__name__,
            needed=", ".join(sorted(k.__name__ for k in _RULES)),
            remedy="take the tensors out of the variant, and add those",
        )
    return rule


def zeros_like_variants(values: Array) -> Array:
    """The zero of each variant of an object array."""
    out = np.empty(values.shape, dtype=object)
    for at, value in np.ndenumerate(values):
        out[at] = _rule(value)[0](value)
    return out


def add_variants(a: Array, b: Array) -> Array:
    """The sums of two object arrays of variants of equal shape; None counts as zero."""
    out = np.empty(a.shape, dtype=object)
    for at, value in np.ndenumerate(a):
        other = b[at]
        missing = value is None or other is None
        out[at] = (other if value is None else value) if missing else _rule(value)[1](value, other)
    return handle_array(out.item()) if out.ndim == 0 else out
