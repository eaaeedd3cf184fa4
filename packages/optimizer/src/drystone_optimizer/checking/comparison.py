"""Whether two results are equal as far as a numeric class promises.

``exact``: to the bit, signs of zeros included; executors other than the reference one choose other
kernels for other nodes, so there the last bits are left out. ``reassociates``: half of the digits
of the dtype, of the value plus the spread of its tensor. ``approximate``: a twentieth of that, of
what is finite in both; integers may differ, because ties may.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import from_numpy
from drystone_optimizer.checking.runs import Array
from drystone_optimizer.core.rules import Numeric

__all__ = ["difference", "first_difference"]

_APPROXIMATE: Final = 0.05
_LAST_BITS: Final = 64


def first_difference(
    fetches: Sequence[str],
    before: Sequence[Any],
    after: Sequence[Any],
    numeric: Numeric,
    *,
    to_the_bit: bool = True,
) -> str:
    """The first of the fetches that differs, and how; "" where none does."""
    for name, a, b in zip(fetches, before, after, strict=True):
        if a is None or b is None:
            continue
        found = difference(a, b, numeric, to_the_bit=to_the_bit)
        if found:
            return f"{name}: {found}"
    return ""


def difference(a: Array, b: Array, numeric: Numeric, *, to_the_bit: bool = True) -> str:
    """How ``b`` differs from ``a`` beyond the class, in words; "" where it does not."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{list(a.shape)} became {b.dtype}{list(b.shape)}"
    if a.dtype.kind in "OSU" or not _is_inexact(a):
        if numeric is Numeric.APPROXIMATE and a.dtype.kind in "iu":
            return ""
        return _count(a, b, np.asarray(a != b))
    if numeric is Numeric.EXACT and to_the_bit:
        return _count(a, b, ~_same_bits(a, b))
    return _count(a, b, _beyond(a, b, numeric))


def _is_inexact(array: Array) -> bool:
    return array.dtype.kind in "fc" or (
        array.dtype.kind == "V" and from_numpy(array.dtype).is_floating
    )


def _same_bits(a: Array, b: Array) -> Array:
    """Where values and signs are the same; one NaN is as good as another."""
    if a.dtype.kind == "c":
        return _same_bits(a.real, b.real) & _same_bits(a.imag, b.imag)
    x, y = a.astype(np.float64), b.astype(np.float64)
    same = (x == y) & (np.signbit(x) == np.signbit(y))
    return np.asarray(same | (np.isnan(x) & np.isnan(y)))


def _beyond(a: Array, b: Array, numeric: Numeric) -> Array:
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    finite = np.isfinite(x) & np.isfinite(y)
    spread = float(np.std(x[finite])) if finite.any() else 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        far = np.abs(x - y) > _tolerance(a, numeric) * (np.abs(x) + spread + 1e-30)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if numeric is Numeric.APPROXIMATE:
        return np.asarray(finite & far)
    return np.asarray(~same & (far | ~finite))


def _tolerance(array: Array, numeric: Numeric) -> float:
    eps = float(np.spacing(np.ones((), array.real.dtype)))
    if numeric is Numeric.EXACT:
        return _LAST_BITS * eps
    half = float(np.sqrt(eps))
    return half if numeric is Numeric.REASSOCIATES else max(half, _APPROXIMATE)


def _count(a: Array, b: Array, wrong: Array) -> str:
    if not wrong.any():
        return ""
    at = tuple(int(k) for k in np.argwhere(wrong)[0]) if wrong.ndim else ()
    place = f" at {list(at)}" if at else ""
    return f"{int(wrong.sum())} of {wrong.size} values differ: {a[at]} became {b[at]}{place}"
