"""Bits, divisors and bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src.backend.common.dtypes import result_type

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops.core import cast, convert_to_tensor
from keras_drystone.src.ops.elementwise import (
    absolute,
    add,
    equal,
    floor_divide,
    mod,
    multiply,
    not_equal,
    numbers_of,
    where,
)
from keras_drystone.src.ops.operands import kind_of, like, promoted

__all__ = [
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "gcd", "lcm", "ldexp", "left_shift", "right_shift",
    "view",
]  # fmt: skip


def ldexp(x1: Any, x2: Any) -> Any:
    """x1 times 2 to the power of x2."""
    x, y = convert_to_tensor(x1), convert_to_tensor(x2)
    kind = result_type(x.dtype, y.dtype, float)
    if "int" not in kind_of(y):
        raise TypeError(f"ldexp exponent must be an integer type. Received: x2 dtype={y.dtype}")
    x, y = cast(x, kind), cast(y, kind)
    return multiply(x, emit("Pow", like(2, x), y))


def gcd(x1: Any, x2: Any) -> Any:
    """The greatest common divisor, by Euclid."""
    from keras_drystone.src.ops.flow import while_loop

    x, y = map(absolute, promoted(convert_to_tensor(x1), convert_to_tensor(x2)))
    x, y = add(x, emit("ZerosLike", y)), add(y, emit("ZerosLike", x))

    def rest(a: Any, b: Any) -> tuple[Any, Any]:
        safe = where(equal(b, 0), like(1, b), b)
        return where(equal(b, 0), a, b), where(equal(b, 0), b, mod(a, safe))

    return while_loop(lambda _, b: _any(not_equal(b, 0)), rest, (x, y))[0]


def _any(x: Any) -> Any:
    return emit("Any", x, np.arange(x.ndim, dtype=np.int32), keep_dims=False)


def lcm(x1: Any, x2: Any) -> Any:
    """The least common multiple."""
    x, y = map(absolute, promoted(convert_to_tensor(x1), convert_to_tensor(x2)))
    divisor = gcd(x, y)
    safe = where(equal(divisor, 0), like(1, divisor), divisor)
    return multiply(floor_divide(x, safe), y)


def _bitwise(op: str, logical: str) -> Callable[[Any, Any], Any]:
    def function(x: Any, y: Any) -> Any:
        a, b = promoted(x, y)
        return emit(logical if kind_of(a) == "bool" else op, a, b)

    function.__doc__ = f"{op} of both; of booleans {logical}."
    return function


bitwise_and = _and = _bitwise("BitwiseAnd", "LogicalAnd")
bitwise_or = _or = _bitwise("BitwiseOr", "LogicalOr")
bitwise_xor = _xor = _bitwise("BitwiseXor", "NotEqual")


def bitwise_invert(x: Any) -> Any:
    """Each bit the other way."""
    x = convert_to_tensor(x)
    return emit("LogicalNot" if kind_of(x) == "bool" else "Invert", x)


bitwise_not = bitwise_invert


def _shifted(op: str) -> Callable[[Any, Any], Any]:
    def function(x: Any, y: Any) -> Any:
        a = convert_to_tensor(x)
        if isinstance(y, int):
            return emit(op, *numbers_of(a, like(y, a)))
        return emit(op, *numbers_of(*promoted(a, convert_to_tensor(y))))

    function.__doc__ = f"{op} of the bits."
    return function


bitwise_left_shift = left_shift = _shifted("LeftShift")
bitwise_right_shift = right_shift = _shifted("RightShift")


def view(x: Any, dtype: Any = None) -> Any:
    """The same bytes as another dtype."""
    x = convert_to_tensor(x)
    if dtype is None:
        return x
    new, old = as_dtype(dtype), as_dtype(kind_of(x))
    if new is old:
        return x
    return _viewed(x, old, new)


def _viewed(x: Any, old: Any, new: Any) -> Any:
    """``Bitcast`` has an axis of parts where sizes differ; NumPy has them in the last axis."""
    from keras_drystone.src.ops.shaping import reshape

    a, b = old.np.itemsize, new.np.itemsize
    if a == b:
        return emit("Bitcast", x, type=new)
    if x.ndim == 0 or (b > a and (x.shape[-1] or 0) * a % b):
        raise ValueError(f"the last axis of {x.shape} {old} cannot be seen as {new}")
    lead = tuple(x.shape[:-1])
    if b > a:
        return emit("Bitcast", reshape(x, (*lead, -1, b // a)), type=new)
    return reshape(emit("Bitcast", x, type=new), (*lead, -1))
