"""Sums and products of whole numbers that go round at the ends of their range.

TVM takes it that numbers of 32 and 64 bits never do, with a sign or without: to it ``a < 0 - x``
is ``a + x < 0``, and LLVM is told so. 32 bits are computed in 64 here; 64 in parts that cannot
leave their range (Warren, Hacker's Delight, 2-18 and 8-2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = ["add", "multiply", "subtract"]

_ALL_BUT_THE_FIRST: Final = 2**63 - 1
_LAST_HALF: Final = 2**32 - 1


def add(t: Any, a: Any, b: Any) -> Any:
    """``a + b``."""
    return _by_width(t, a, b, lambda x, y: x + y, _add)


def subtract(t: Any, a: Any, b: Any) -> Any:
    """``a - b``."""
    return _by_width(t, a, b, lambda x, y: x - y, _subtract)


def multiply(t: Any, a: Any, b: Any) -> Any:
    """``a * b``."""
    return _by_width(t, a, b, lambda x, y: x * y, _multiply)


def _by_width(t: Any, a: Any, b: Any, narrow: Callable[..., Any], wide: Callable[..., Any]) -> Any:
    dtype = str(a.ty.dtype if hasattr(a, "ty") else a.dtype)
    if dtype == "int32":
        return narrow(a.astype("int64"), b.astype("int64")).astype(dtype)
    if dtype == "int64":
        return _as(t, dtype, wide(t, _as(t, "uint64", a), _as(t, "uint64", b)))
    return narrow(a, b)


def _as(t: Any, dtype: str, x: Any) -> Any:
    """The bits as of another dtype; turned twice, as TVM reinterprets no 0."""
    return t.bitwise_not(t.reinterpret(dtype, t.bitwise_not(x)))


def _add(t: Any, a: Any, b: Any) -> Any:
    rest = t.const(_ALL_BUT_THE_FIRST, "uint64")
    first = t.bitwise_and(t.bitwise_xor(a, b), t.bitwise_not(rest))
    return t.bitwise_xor(t.bitwise_and(a, rest) + t.bitwise_and(b, rest), first)


def _subtract(t: Any, a: Any, b: Any) -> Any:
    rest = t.const(_ALL_BUT_THE_FIRST, "uint64")
    head = t.bitwise_not(rest)
    first = t.bitwise_and(t.bitwise_xor(a, t.bitwise_not(b)), head)
    return t.bitwise_xor(t.bitwise_or(a, head) - t.bitwise_and(b, rest), first)


def _multiply(t: Any, a: Any, b: Any) -> Any:
    half, width = t.const(_LAST_HALF, "uint64"), t.const(32, "uint64")
    a_low, b_low = t.bitwise_and(a, half), t.bitwise_and(b, half)
    a_high, b_high = t.shift_right(a, width), t.shift_right(b, width)
    crossed = t.bitwise_and(a_high * b_low, half) + t.bitwise_and(a_low * b_high, half)
    return _add(t, a_low * b_low, t.shift_left(t.bitwise_and(crossed, half), width))
