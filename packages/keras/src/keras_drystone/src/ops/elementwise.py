"""Functions of each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src.backend import config
from keras.src.backend.common.dtypes import result_type

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops.core import cast, convert_to_tensor
from keras_drystone.src.ops.operands import floating, is_integer, kind_of, like, promoted

__all__ = [
    "abs", "absolute", "add", "allclose", "ceil", "clip", "conj", "conjugate", "copysign",
    "divide", "divide_no_nan", "equal", "exp", "expm1", "fabs", "float_power", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "greater", "greater_equal", "heaviside", "imag",
    "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "less",
    "less_equal", "log", "log1p", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum", "minimum", "mod", "multiply", "nan_to_num", "negative", "nextafter", "not_equal",
    "power", "real", "reciprocal", "round", "sign", "signbit", "sqrt", "square", "subtract",
    "true_divide", "trunc", "where",
]  # fmt: skip


def of_floats(op: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return emit(op, floating(x))

    function.__doc__ = f"{op} of each element, as floats."
    return function


log, log1p, sqrt = of_floats("Log"), of_floats("Log1p"), of_floats("Sqrt")
exp, expm1 = of_floats("Exp"), of_floats("Expm1")


def _promoting(op: str) -> Callable[[Any, Any], Any]:
    def function(x1: Any, x2: Any) -> Any:
        return emit(op, *promoted(x1, x2))

    function.__doc__ = f"{op} of both, in the dtype that Keras promotes them to."
    return function


maximum, minimum = _promoting("Maximum"), _promoting("Minimum")
subtract = _promoting("Sub")
equal, not_equal = _promoting("Equal"), _promoting("NotEqual")
_less, _greater = _promoting("Less"), _promoting("Greater")
_less_equal, _greater_equal = _promoting("LessEqual"), _promoting("GreaterEqual")
less, greater, less_equal, greater_equal = _less, _greater, _less_equal, _greater_equal


def add(x1: Any, x2: Any) -> Any:
    """The sum; of booleans the disjunction."""
    x, y = promoted(x1, x2)
    return emit("LogicalOr", x, y) if kind_of(x) == "bool" else emit("AddV2", x, y)


def multiply(x1: Any, x2: Any) -> Any:
    """The product; of booleans the conjunction."""
    x, y = promoted(x1, x2)
    return emit("LogicalAnd", x, y) if kind_of(x) == "bool" else emit("Mul", x, y)


def divide(x1: Any, x2: Any) -> Any:
    """The quotient, as floats."""
    return emit("RealDiv", *promoted(x1, x2, also=(float,)))


true_divide = divide


def divide_no_nan(x1: Any, x2: Any) -> Any:
    """The quotient, 0 where the divisor is."""
    return emit("DivNoNan", *promoted(x1, x2, also=(float,)))


def floor_divide(x1: Any, x2: Any) -> Any:
    """The quotient, rounded down."""
    x, y = promoted(x1, x2)
    return emit("FloorDiv", *numbers_of(x, y))


def numbers_of(x: Any, y: Any) -> tuple[Any, Any]:
    """Booleans as integers."""
    return (cast(x, "int32"), cast(y, "int32")) if kind_of(x) == "bool" else (x, y)


def mod(x1: Any, x2: Any) -> Any:
    """The rest, of the divisor's sign."""
    return emit("FloorMod", *numbers_of(*promoted(x1, x2)))


def fmod(x1: Any, x2: Any) -> Any:
    """The rest, of the dividend's sign."""
    x, y = numbers_of(*promoted(x1, x2))
    if is_integer(kind_of(x)):
        whole = emit("TruncateDiv", x, y)
        return emit("Sub", x, emit("Mul", whole, y))
    return emit("TruncateMod", x, y)


def power(x1: Any, x2: Any) -> Any:
    """The power."""
    return emit("Pow", *numbers_of(*promoted(x1, x2)))


def float_power(x1: Any, x2: Any) -> Any:
    """The power, as floats."""
    return emit("Pow", *promoted(convert_to_tensor(x1), convert_to_tensor(x2), also=(float,)))


def square(x: Any) -> Any:
    """The square."""
    x = convert_to_tensor(x)
    return emit("Square", cast(x, "int32") if kind_of(x) == "bool" else x)


def negative(x: Any) -> Any:
    """The negative."""
    return emit("Neg", convert_to_tensor(x))


def absolute(x: Any) -> Any:
    """The absolute value."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    if kind.startswith("complex"):
        return emit("ComplexAbs", x, Tout=as_dtype(part_of(kind)))
    return x if kind.startswith("uint") or kind == "bool" else emit("Abs", x)


def abs(x: Any) -> Any:
    """The absolute value."""
    return absolute(x)


def fabs(x: Any) -> Any:
    """The absolute value, as floats."""
    x = convert_to_tensor(x)
    return emit("Abs", cast(x, config.floatx()) if is_integer(kind_of(x)) else x)


def part_of(kind: str) -> str:
    return "float64" if kind == "complex128" else "float32"


def real(x: Any) -> Any:
    """The real part."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    return emit("Real", x, Tout=as_dtype(part_of(kind))) if kind.startswith("complex") else x


def imag(x: Any) -> Any:
    """The imaginary part."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    if kind.startswith("complex"):
        return emit("Imag", x, Tout=as_dtype(part_of(kind)))
    return emit("ZerosLike", x)


def conjugate(x: Any) -> Any:
    """The conjugate."""
    x = convert_to_tensor(x)
    return emit("Conj", x) if kind_of(x).startswith("complex") else x


conj = conjugate


def isreal(x: Any) -> Any:
    """Whether the imaginary part is 0."""
    x = convert_to_tensor(x)
    if kind_of(x).startswith("complex"):
        return equal(imag(x), 0)
    return _constant(x, True)


def _constant(x: Any, value: bool) -> Any:
    """A truth value of the tensor's shape."""
    return emit("Fill", emit("Shape", x, out_type=as_dtype("int32")), np.bool_(value))


def reciprocal(x: Any) -> Any:
    """1 divided by it."""
    x = convert_to_tensor(x)
    return emit("FloorDiv", like(1, x), x) if is_integer(kind_of(x)) else emit("Reciprocal", x)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    x = convert_to_tensor(x)
    return x if kind_of(x) == "bool" else emit("Sign", x)


def signbit(x: Any) -> Any:
    """Whether the sign is minus; of -0.0, too."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    if is_integer(kind):
        return _constant(x, False) if kind.startswith("u") or kind == "bool" else less(x, 0)
    zero = equal(x, like(0, x))
    below = emit("Less", emit("Reciprocal", where(zero, x, like(1, x))), like(0, x))
    return logical_or(less(x, like(0, x)), logical_and(zero, below))


def copysign(x1: Any, x2: Any) -> Any:
    """The first one's size with the second one's sign."""
    x, y = promoted(convert_to_tensor(x1), convert_to_tensor(x2), also=(float,))
    size = absolute(x)
    return where(signbit(y), negative(size), size)


def nextafter(x1: Any, x2: Any) -> Any:
    """The next number towards another one."""
    x, y = promoted(convert_to_tensor(x1), convert_to_tensor(x2), also=(float,))
    return emit("NextAfter", x, y)


def heaviside(x1: Any, x2: Any) -> Any:
    """0 below 0, 1 above, x2 at 0."""
    x, y = convert_to_tensor(x1), convert_to_tensor(x2)
    kind = result_type(x.dtype, y.dtype)
    if kind == "int64":
        kind = "float64"
    elif is_integer(kind):
        kind = config.floatx()
    x, y = cast(x, kind), cast(y, kind)
    found = where(less(x, 0), like(0, x), where(greater(x, 0), like(1, x), y))
    return where(isnan(x), x, found)


def _whole(op: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        x = convert_to_tensor(x)
        kind = kind_of(x)
        if not is_integer(kind):
            return emit(op, x)
        return cast(x, config.floatx() if kind == "int64" else result_type(kind, float))

    function.__doc__ = f"{op} of each element, as floats."
    return function


ceil, floor = _whole("Ceil"), _whole("Floor")


def trunc(x: Any) -> Any:
    """Rounded towards 0."""
    x = convert_to_tensor(x)
    if is_integer(kind_of(x)):
        return x
    return where(less(x, 0), emit("Ceil", x), emit("Floor", x))


def round(x: Any, decimals: int = 0) -> Any:
    """Rounded to a number of decimals, halves to the even one."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    if is_integer(kind):
        if decimals >= 0 or kind == "bool":
            return x
        factor = 10**-decimals
        scaled = emit("Round", divide(cast(x, "float64" if kind == "int64" else "float32"), factor))
        return cast(multiply(scaled, factor), kind)
    if decimals == 0:
        return emit("Round", x)
    factor = like(10.0**decimals, x)
    return divide(emit("Round", multiply(x, factor)), factor)


def clip(x: Any, x_min: Any, x_max: Any) -> Any:
    """Not below, not above."""
    x = convert_to_tensor(x)
    kind = "int32" if kind_of(x) == "bool" else kind_of(x)
    x = cast(x, kind)
    if x_min is not None:
        x = emit("Maximum", x, _bound(x_min, x))
    return x if x_max is None else emit("Minimum", x, _bound(x_max, x))


def _bound(value: Any, x: Any) -> Any:
    """A limit in the dtype; one beyond what it holds is the end of what it holds."""
    kind = kind_of(x)
    if isinstance(value, int | float) and "int" in kind:
        info = np.iinfo(kind)
        return like(int(min(max(value, info.min), info.max)), x)
    return like(value, x)


def _is(op: str, otherwise: bool) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        x = convert_to_tensor(x)
        kind = kind_of(x)
        if is_integer(kind):
            return _constant(x, otherwise)
        if kind.startswith("complex"):
            parts = emit(op, real(x)), emit(op, imag(x))
            return emit("LogicalAnd" if otherwise else "LogicalOr", *parts)
        return emit(op, x)

    function.__doc__ = f"{op} of each element."
    return function


isnan, isinf, isfinite = _is("IsNan", False), _is("IsInf", False), _is("IsFinite", True)


def isposinf(x: Any) -> Any:
    """Whether it is positive infinity."""
    x = convert_to_tensor(x)
    return _constant(x, False) if is_integer(kind_of(x)) else equal(x, like(np.inf, x))


def isneginf(x: Any) -> Any:
    """Whether it is negative infinity."""
    x = convert_to_tensor(x)
    return _constant(x, False) if is_integer(kind_of(x)) else equal(x, like(-np.inf, x))


def isclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether both differ by no more than the tolerances."""
    x, y = promoted(convert_to_tensor(x1), convert_to_tensor(x2), also=(float,))
    one, size = absolute(x), absolute(y)  # of complex numbers these are real
    allowed = add(like(atol, size), multiply(like(rtol, size), size))
    near = logical_and(less_equal(absolute(subtract(x, y)), allowed), isfinite(size))
    found = logical_or(equal(x, y), near)
    return logical_or(found, logical_and(isnan(one), isnan(size))) if equal_nan else found


def allclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether all are close."""
    found = isclose(x1, x2, rtol, atol, equal_nan)
    return emit("All", found, np.arange(found.ndim, dtype=np.int32), keep_dims=False)


def _logical(op: str) -> Callable[[Any, Any], Any]:
    def function(x1: Any, x2: Any) -> Any:
        return emit(op, cast(x1, "bool"), cast(x2, "bool"))

    function.__doc__ = f"{op} of both as truth values."
    return function


logical_and, logical_or = _logical("LogicalAnd"), _logical("LogicalOr")
logical_xor = _logical("NotEqual")


def logical_not(x: Any) -> Any:
    """The negation of the truth value."""
    return emit("LogicalNot", cast(x, "bool"))


def _ignoring_nan(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def function(x1: Any, x2: Any) -> Any:
        x, y = promoted(x1, x2)
        return where(isnan(x), y, where(isnan(y), x, op(x, y)))

    function.__doc__ = "As its like, of the other one where one is NaN."
    return function


fmax, fmin = _ignoring_nan(maximum), _ignoring_nan(minimum)


def nan_to_num(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Finite numbers for NaN and the infinities: the largest of the dtype by default."""
    x = convert_to_tensor(x)
    kind = kind_of(x)
    if is_integer(kind):
        return x
    info = _limits(kind)
    x = where(isnan(x), like(nan, x), x)
    x = where(isposinf(x), like(info.max if posinf is None else posinf, x), x)
    return where(isneginf(x), like(info.min if neginf is None else neginf, x), x)


def _limits(kind: str) -> Any:
    import ml_dtypes

    finfo: Any = ml_dtypes.finfo
    return finfo(as_dtype(kind).np)


def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    """Elements of one of two; without them the indices where it is true."""
    condition = cast(condition, "bool")
    if x1 is None or x2 is None:
        from keras_drystone.src.ops.indexing import nonzero

        return nonzero(condition)
    return emit("SelectV2", condition, *promoted(x1, x2))
