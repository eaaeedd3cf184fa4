"""Element-wise ops of one, two and more operands."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.graph import Node
from drystone_pjrt.stablehlo.complex_numbers import conjugate
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.writer import Value, Writer

__all__: list[str] = []

_ONE: Final = {
    "Abs": "abs", "Ceil": "ceil", "Cos": "cosine", "Exp": "exponential",
    "Expm1": "exponential_minus_one", "Floor": "floor", "Invert": "not", "IsFinite": "is_finite",
    "Log": "log", "Log1p": "log_plus_one", "LogicalNot": "not", "Neg": "negate",
    "Rint": "round_nearest_even", "Round": "round_nearest_even", "Rsqrt": "rsqrt", "Sign": "sign",
    "Sin": "sine", "Sqrt": "sqrt", "Tanh": "tanh",
}  # fmt: skip
_TWO: Final = {
    "Add": "add", "AddV2": "add", "Atan2": "atan2", "BitwiseAnd": "and", "BitwiseOr": "or",
    "BitwiseXor": "xor", "LogicalAnd": "and", "LogicalOr": "or", "Maximum": "maximum",
    "Minimum": "minimum", "Mul": "multiply", "Sub": "subtract",
}  # fmt: skip
_OF_FLOATS: Final = {"Div": "divide", "Pow": "power", "RealDiv": "divide"}
_COMPARED: Final = {
    "Equal": "EQ", "NotEqual": "NE", "Less": "LT", "LessEqual": "LE", "Greater": "GT",
    "GreaterEqual": "GE",
}  # fmt: skip
_INTEGER_ROUNDING: Final = frozenset({"Ceil", "Floor", "Rint", "Round", "Sign"})
_SELU_ALPHA: Final = 1.6732632423543772848170429916717
_SELU_SCALE: Final = 1.0507009873554804934193349852946


def of_floats(node: Node) -> str:
    """Why a node is refused that is written for floating types only, or "": others raise errors."""
    dtype = node.attr("T")
    return "" if dtype is not None and dtype.is_floating else f"it is of {dtype}"


def _of_wide_floats(node: Node) -> str:
    """The same, and for those whose quotients are not rounded before they are cut."""
    dtype = node.attr("T")
    return of_floats(node) or ("" if dtype.np.itemsize > 2 else f"it is of {dtype}")


@emits(*_ONE)
def one(w: Writer, s: Site) -> Value:
    """An op of StableHLO's; rounding leaves whole numbers as they are."""
    (x,) = s.inputs
    if s.op in _INTEGER_ROUNDING - {"Sign"} and x.dtype.kind in "iub":
        return x
    dtype = np.dtype(bool) if s.op == "IsFinite" else x.dtype
    return w.op(f"stablehlo.{_ONE[s.op]}", [x], x.shape, dtype)


@emits(*_TWO)
def two(w: Writer, s: Site) -> Value:
    """An op of StableHLO's on operands that are brought to one shape."""
    return w.same(f"stablehlo.{_TWO[s.op]}", *w.together(*s.inputs))


@emits(*_OF_FLOATS, check=of_floats)
def two_floats(w: Writer, s: Site) -> Value:
    """The same; for whole numbers these can fail, which a program cannot say."""
    return w.same(f"stablehlo.{_OF_FLOATS[s.op]}", *w.together(*s.inputs))


@emits("FloorDiv", "FloorMod", check=_of_wide_floats)
def floored(w: Writer, s: Site) -> Value:
    """The whole part of a quotient, rounded down; or what is left, with the divisor's sign."""
    x, y = w.together(*s.inputs)
    if s.op == "FloorDiv":
        return w.same("stablehlo.floor", w.same("stablehlo.divide", x, y))
    rest, zero = w.same("stablehlo.remainder", x, y), w.full(0, x.shape, x.dtype)
    signs = [w.compare("LT", value, zero) for value in (rest, y)]
    other = w.same("stablehlo.and", w.compare("NE", rest, zero), w.same("stablehlo.xor", *signs))
    return w.select(other, w.same("stablehlo.add", rest, y), rest)


@emits(*_COMPARED)
def compared(w: Writer, s: Site) -> Value:
    """A comparison."""
    left, right = w.together(*s.inputs)
    return w.compare(_COMPARED[s.op], left, right)


@emits("Identity", "StopGradient", "PreventGradient", "Snapshot")
def same(_: Writer, s: Site) -> Value:
    """The input."""
    return s.inputs[0]


@emits("AddN")
def add_all(w: Writer, s: Site) -> Value:
    """The sum of all inputs."""
    total = s.inputs[0]
    for value in s.inputs[1:]:
        total = w.same("stablehlo.add", total, value)
    return total


@emits("BiasAdd", "BiasAddV1")
def bias_add(w: Writer, s: Site) -> Value:
    """A number for each channel added."""
    x, bias = s.inputs
    axis = 1 if s.attr("data_format") == b"NCHW" or s.attr("data_format") == "NCHW" else -1
    return w.same("stablehlo.add", x, w.broadcast(bias, x.shape, [axis % len(x.shape)]))


@emits("Square")
def square(w: Writer, s: Site) -> Value:
    """The product with itself."""
    return w.same("stablehlo.multiply", s.inputs[0], s.inputs[0])


@emits("SquaredDifference")
def squared_difference(w: Writer, s: Site) -> Value:
    """The square of the difference."""
    apart = w.same("stablehlo.subtract", *w.together(*s.inputs))
    return w.same("stablehlo.multiply", conjugate(w, apart), apart)


@emits("Reciprocal", "Inv", check=of_floats)
def reciprocal(w: Writer, s: Site) -> Value:
    """One by the input."""
    (x,) = s.inputs
    return w.same("stablehlo.divide", w.full(1, x.shape, x.dtype), x)


@emits("Relu")
def relu(w: Writer, s: Site) -> Value:
    """What is above zero."""
    (x,) = s.inputs
    return w.same("stablehlo.maximum", x, w.full(0, x.shape, x.dtype))


@emits("Relu6")
def relu6(w: Writer, s: Site) -> Value:
    """What is between zero and six."""
    (x,) = s.inputs
    low, high = w.full(0, x.shape, x.dtype), w.full(6, x.shape, x.dtype)
    return w.same("stablehlo.minimum", w.same("stablehlo.maximum", x, low), high)


@emits("LeakyRelu")
def leaky_relu(w: Writer, s: Site) -> Value:
    """The input above zero, ``alpha`` of it below."""
    (x,) = s.inputs
    small = w.same("stablehlo.multiply", x, w.full(s.attr("alpha"), x.shape, x.dtype))
    return _above_zero(w, x, x, small)


@emits("Elu")
def elu(w: Writer, s: Site) -> Value:
    """The input above zero, its exponential less one below."""
    (x,) = s.inputs
    return _above_zero(w, x, x, w.same("stablehlo.exponential_minus_one", x))


@emits("Selu")
def selu(w: Writer, s: Site) -> Value:
    """The same, scaled so that layers keep their variance."""
    (x,) = s.inputs
    low = w.same("stablehlo.exponential_minus_one", x)
    alpha = w.full(_SELU_ALPHA * _SELU_SCALE, x.shape, x.dtype)
    scale = w.full(_SELU_SCALE, x.shape, x.dtype)
    high = w.same("stablehlo.multiply", x, scale)
    return _above_zero(w, x, high, w.same("stablehlo.multiply", low, alpha))


def _above_zero(w: Writer, x: Value, high: Value, low: Value) -> Value:
    return w.select(w.compare("GT", x, w.full(0, x.shape, x.dtype)), high, low)


@emits("Sigmoid")
def sigmoid(w: Writer, s: Site) -> Value:
    """The logistic function."""
    return w.same("stablehlo.logistic", s.inputs[0])


@emits("Softplus")
def softplus(w: Writer, s: Site) -> Value:
    """log(1 + exp(x)), without overflow: max(x, 0) + log1p(exp(-|x|))."""
    (x,) = s.inputs
    away = w.same("stablehlo.negate", w.same("stablehlo.abs", x))
    rest = w.same("stablehlo.log_plus_one", w.same("stablehlo.exponential", away))
    high = w.same("stablehlo.maximum", x, w.full(0, x.shape, x.dtype))
    return w.same("stablehlo.add", high, rest)


@emits("Softsign")
def softsign(w: Writer, s: Site) -> Value:
    """x / (1 + |x|)."""
    (x,) = s.inputs
    size = w.same("stablehlo.add", w.same("stablehlo.abs", x), w.full(1, x.shape, x.dtype))
    return w.same("stablehlo.divide", x, size)


@emits("Erf")
def erf(w: Writer, s: Site) -> Value:
    """The error function, which StableHLO's companion dialect has."""
    return w.same("chlo.erf", s.inputs[0])


@emits("Erfc")
def erfc(w: Writer, s: Site) -> Value:
    """One less the error function."""
    return w.same("chlo.erfc", s.inputs[0])


@emits("IsNan")
def is_nan(w: Writer, s: Site) -> Value:
    """What is not equal to itself."""
    return w.compare("NE", s.inputs[0], s.inputs[0])


@emits("IsInf")
def is_inf(w: Writer, s: Site) -> Value:
    """What is as large as infinity."""
    (x,) = s.inputs
    return w.compare("EQ", w.same("stablehlo.abs", x), w.full(math.inf, x.shape, x.dtype))


@emits("ZerosLike", "OnesLike")
def constant_like(w: Writer, s: Site) -> Value:
    """Zeros or ones of the input's shape."""
    (x,) = s.inputs
    return w.full(s.op == "OnesLike", x.shape, x.dtype)


@emits("DivNoNan", "MulNoNan", check=of_floats)
def no_nan(w: Writer, s: Site) -> Value:
    """Zero where the second operand is zero, whatever the first is."""
    x, y = w.together(*s.inputs)
    made = w.same("stablehlo.divide" if s.op == "DivNoNan" else "stablehlo.multiply", x, y)
    zero = w.full(0, x.shape, x.dtype)
    return w.select(w.compare("EQ", y, zero), zero, made)


@emits("ClipByValue")
def clip(w: Writer, s: Site) -> Value:
    """What is between two bounds."""
    x, low, high = s.inputs
    low, high = w.broadcast(low, x.shape), w.broadcast(high, x.shape)
    return w.same("stablehlo.minimum", w.same("stablehlo.maximum", x, low), high)


@emits("Select")
def select_rows(w: Writer, s: Site) -> Value:
    """One of two values for each element, or for each row."""
    where, x, y = s.inputs
    axes = range(len(where.shape))
    return w.select(w.broadcast(where, x.shape, axes), x, y)


@emits("SelectV2")
def select(w: Writer, s: Site) -> Value:
    """One of two values for each element."""
    where, x, y = w.together(*s.inputs)
    return w.select(where, x, y)


def whole(dtype: Any) -> bool:
    """Whether a type holds whole numbers."""
    return np.dtype(dtype).kind in "iu"
