"""Angles, logarithms and powers of fixed numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops.core import convert_to_tensor
from keras_drystone.src.ops.elementwise import (
    absolute,
    add,
    divide,
    divide_no_nan,
    equal,
    exp,
    isinf,
    isnan,
    less,
    log,
    log1p,
    logical_or,
    maximum,
    minimum,
    multiply,
    negative,
    of_floats,
    part_of,
    sign,
    sqrt,
    square,
    subtract,
    where,
)
from keras_drystone.src.ops.operands import floating, kind_of, like, promoted

__all__ = [
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "cbrt",
    "cos",
    "cosh",
    "deg2rad",
    "exp2",
    "hypot",
    "i0",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "rad2deg",
    "sin",
    "sinc",
    "sinh",
    "tan",
    "tanh",
]  # fmt: skip


arccos, arccosh = of_floats("Acos"), of_floats("Acosh")
arcsin, arcsinh = of_floats("Asin"), of_floats("Asinh")
arctan, arctanh = of_floats("Atan"), of_floats("Atanh")
cos, cosh, sin, sinh = map(of_floats, ("Cos", "Cosh", "Sin", "Sinh"))
tan, tanh = of_floats("Tan"), of_floats("Tanh")
i0 = of_floats("BesselI0")


def angle(x: Any) -> Any:
    """The angle in the complex plane."""
    x = floating(x)
    kind = kind_of(x)
    if kind.startswith("complex"):
        return emit("Angle", x, Tout=as_dtype(part_of(kind)))
    found = where(less(x, 0), like(np.pi, x), like(0, x))
    return where(isnan(x), x, found)


def arctan2(x1: Any, x2: Any) -> Any:
    """The angle of the point (x2, x1)."""
    return emit("Atan2", *promoted(convert_to_tensor(x1), convert_to_tensor(x2), also=(float,)))


def hypot(x1: Any, x2: Any) -> Any:
    """The hypotenuse; does not overflow where the result does not."""
    x, y = promoted(convert_to_tensor(x1), convert_to_tensor(x2), also=(float,))
    x, y = absolute(x), absolute(y)
    large, small = maximum(x, y), minimum(x, y)
    ratio = divide_no_nan(small, large)
    found = multiply(large, sqrt(add(like(1, x), square(ratio))))
    return where(logical_or(isinf(x), isinf(y)), like(np.inf, x), found)


def log2(x: Any) -> Any:
    """The logarithm to the base 2."""
    x = log(x)
    return divide(x, like(np.log(2.0), x))


def log10(x: Any) -> Any:
    """The logarithm to the base 10."""
    x = log(x)
    return divide(x, like(np.log(10.0), x))


def exp2(x: Any) -> Any:
    """The power of 2."""
    x = floating(x)
    return emit("Pow", like(2, x), x)


def logaddexp(x1: Any, x2: Any) -> Any:
    """The logarithm of the sum of exponentials."""
    x, y = promoted(convert_to_tensor(x1), convert_to_tensor(x2), also=(float,))
    difference = subtract(x, y)
    found = add(maximum(x, y), log1p(exp(negative(absolute(difference)))))
    return where(isnan(difference), add(x, y), found)


def logaddexp2(x1: Any, x2: Any) -> Any:
    """The logarithm to the base 2 of the sum of powers of 2."""
    x, y = promoted(convert_to_tensor(x1), convert_to_tensor(x2), also=(float,))
    difference = subtract(x, y)
    rest = divide(log1p(exp2(negative(absolute(difference)))), like(np.log(2.0), x))
    return where(isnan(difference), add(x, y), add(maximum(x, y), rest))


def cbrt(x: Any) -> Any:
    """The cube root, of negative numbers, too."""
    x = floating(x, wide=True)
    return multiply(sign(x), emit("Pow", absolute(x), like(1 / 3, x)))


def deg2rad(x: Any) -> Any:
    """Degrees as radians."""
    x = floating(x, wide=True)
    return multiply(x, like(np.pi / 180, x))


def rad2deg(x: Any) -> Any:
    """Radians as degrees."""
    x = floating(x, wide=True)
    return multiply(x, like(180 / np.pi, x))


def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x), and 1 at 0."""
    x = floating(x)
    scaled = multiply(
        where(equal(x, 0), like(1e-20 if kind_of(x) != "float16" else 1e-4, x), x), like(np.pi, x)
    )
    return where(equal(x, 0), like(1, x), divide(sin(scaled), scaled))
