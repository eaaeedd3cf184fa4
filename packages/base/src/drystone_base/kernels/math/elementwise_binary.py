"""Elementwise arithmetic on two arguments with NumPy broadcasting, and sums of many.

Source: TensorFlow ops of the same names. Integers wrap around; float16 and bfloat16 are computed in
float32 and rounded once.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import add_variants
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.math._elementwise import Function, binary, broadcast_shape


def _mul_no_nan(x: Array, y: Array) -> Any:
    return np.where(y == 0, x.dtype.type(0), x * y)


def _div_no_nan(x: Array, y: Array) -> Any:
    return np.where(y == 0, x.dtype.type(0), x / y)


def _squared_difference(x: Array, y: Array) -> Any:
    difference = x - y
    return np.conjugate(difference) * difference


def _xdivy(x: Array, y: Array) -> Any:
    return np.where(x == 0, x, x / y)


def _xlogy(x: Array, y: Array) -> Any:
    return np.where(x == 0, x, x * np.log(y))


def _xlog1py(x: Array, y: Array) -> Any:
    return np.where(x == 0, x, x * np.log1p(y))


_FUNCTIONS: Final[dict[str, Function]] = {
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "MulNoNan": _mul_no_nan,
    "RealDiv": np.true_divide,
    "DivNoNan": _div_no_nan,
    "SquaredDifference": _squared_difference,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Atan2": np.arctan2,
    "Xdivy": _xdivy,
    "Xlogy": _xlogy,
    "Xlog1py": _xlog1py,
    "NextAfter": np.nextafter,
}

for _op, _function in _FUNCTIONS.items():
    kernel(_op)(binary(_function))


@kernel("Add")
def add(call: Call, x: Array, y: Array) -> Array:
    """Sum, or concatenation of strings."""
    if x.dtype == object:
        broadcast_shape(call, x, y)
        return np.asarray(np.add(x, y), dtype=object)
    return _ADD(call, x, y)


_ADD: Final = binary(np.add)


def _truncate_div(x: Array, y: Array) -> Any:
    if x.dtype.kind not in "iu":
        return np.trunc(x / y)
    quotient = np.floor_divide(x, y)
    inexact = quotient * y != x
    return quotient + (inexact & ((x < 0) != (y < 0)))


def _floor_div(x: Array, y: Array) -> Any:
    return np.floor_divide(x, y) if x.dtype.kind in "iu" else np.floor(x / y)


_WHOLE: Final[dict[str, Function]] = {"FloorDiv": np.floor, "TruncateDiv": np.trunc}


@quiet
def _whole_quotient(call: Call, x: Array, y: Array) -> Array:
    """In 16 bits the quotient is rounded before it is cut, which may lift it to the next whole."""
    broadcast_shape(call, x, y)
    return np.asarray(_WHOLE[call.op](x / y))


def _floor_mod(x: Array, y: Array) -> Any:
    rest = np.fmod(x, y)
    # The result takes the divisor's sign; NumPy's own remainder also changes the sign of zeros.
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def _div(x: Array, y: Array) -> Any:
    return _truncate_div(x, y) if x.dtype.kind in "iu" else x / y


_DIVISIONS: Final[dict[str, tuple[Function, str]]] = {
    "Div": (_div, "INVALID_ARGUMENT"),
    "FloorDiv": (_floor_div, "INVALID_ARGUMENT"),
    "FloorMod": (_floor_mod, "INVALID_ARGUMENT"),
    "Mod": (np.fmod, "INVALID_ARGUMENT"),
    # TensorFlow has no status of its own for these two.
    "TruncateDiv": (_truncate_div, "INTERNAL"),
    "TruncateMod": (np.fmod, "INTERNAL"),
}


def _division(function: Function, status: str) -> Function:
    """A kernel that refuses integer division by zero with ``status``."""
    run = binary(function)

    def divide(call: Call, x: Array, y: Array) -> Array:
        if y.dtype.kind in "iu" and x.size and not y.all():
            call.fail(
                "an integer divisor must not be zero",
                found="0 among the divisors",
                needed="non-zero integers, or a floating type",
                status=status,
            )
        if call.op in _WHOLE and y.dtype.kind not in "iu" and y.dtype.itemsize == 2:
            return _whole_quotient(call, x, y)
        return run(call, x, y)

    return divide


for _op, (_function, _status) in _DIVISIONS.items():
    kernel(_op)(_division(_function, _status))


_POWER: Final = binary(np.power)


@kernel("Pow")
def power(call: Call, x: Array, y: Array) -> Array:
    """``x`` to the power ``y``; integers wrap around and refuse negative exponents."""
    if y.dtype.kind == "i" and x.size and (y < 0).any():
        call.fail(
            "integers have no negative powers",
            found=f"exponent {int(y.min())}",
            needed="exponents of 0 or more, or a floating type",
        )
    return _POWER(call, x, y)


@kernel("Complex")
def make_complex(call: Call, real: Array, imag: Array) -> Array:
    """Complex numbers of type ``Tout`` from real and imaginary parts."""
    out = np.empty(broadcast_shape(call, real, imag), call.attrs["Tout"].np)
    out.real = real
    out.imag = imag
    return out


@kernel("ApproximateEqual")
@quiet
def approximate_equal(call: Call, x: Array, y: Array) -> Array:
    """Whether ``|x - y| < tolerance``; shapes must be equal."""
    call.require(
        x.shape == y.shape, "shapes must be equal", found=f"{list(x.shape)} and {list(y.shape)}"
    )
    return np.asarray(np.abs(x - y) < x.dtype.type(call.attrs["tolerance"]))


@kernel("AddN", "AccumulateNV2")
@quiet
def add_n(call: Call, *values: Array) -> Array:
    """Sum of tensors of one shape; variants are added by their kind's rule."""
    first = values[0]
    if first.dtype == object:
        return reduce(add_variants, values)
    for other in values[1:]:
        call.require(
            other.shape == first.shape,
            "all inputs must have one shape",
            found=f"{list(first.shape)} and {list(other.shape)}",
            needed="equal shapes",
        )
    total = widen(first).copy()
    for other in values[1:]:
        total += widen(other)
    return total.astype(first.dtype, copy=False)
