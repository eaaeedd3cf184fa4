"""Rules for ops on elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import Any, Final

from drystone_tvm.compiling import whole
from drystone_tvm.compiling.rules import DTYPES, FLOATS, RULES, Call

__all__ = ["larger", "smaller"]

_BOOL: Final = frozenset({"bool"})
_NUMBERS: Final = DTYPES - _BOOL
_SELU_SCALE: Final = 1.0507009873554805
_SELU_ALPHA: Final = 1.6732632423543772


def _dtype(x: Any) -> str:
    """Of an expression, or of an element of a tensor, which is none yet."""
    return str(x.ty.dtype if hasattr(x, "ty") else x.dtype)


def _like(x: Any, t: Any, value: float) -> Any:
    return t.const(value, _dtype(x))


def larger(t: Any, a: Any, b: Any) -> Any:
    """The larger of two, NaN if one is."""
    return t.Select(_first(t, a > b, a), a, b)


def smaller(t: Any, a: Any, b: Any) -> Any:
    """The smaller of two, NaN if one is."""
    return t.Select(_first(t, a < b, a), a, b)


def _first(t: Any, wins: Any, a: Any) -> Any:
    """``wins``, or that ``a`` is NaN; TVM takes ``a != a`` for false."""
    return wins if _is_whole(a) else t.any(wins, t.isnan(a))


def _sign(t: Any, x: Any) -> Any:
    one, zero = _like(x, t, 1), _like(x, t, 0)
    return t.Select(x > zero, one, t.Select(x < zero, zero - one, x))


def _neg(t: Any, x: Any) -> Any:
    return whole.subtract(t, _like(x, t, 0), x) if _is_whole(x) else x * _like(x, t, -1)


def _sigmoid(t: Any, x: Any) -> Any:
    one = _like(x, t, 1)
    return one / (one + t.exp(_like(x, t, 0) - x))


def _softplus(t: Any, x: Any) -> Any:
    """As log(1 + exp(x)) without overflow."""
    zero = _like(x, t, 0)
    return larger(t, x, zero) + t.log(_like(x, t, 1) + t.exp(zero - t.abs(x)))


def _exp_less_one(t: Any, x: Any) -> Any:
    """Of x below 0; a series near it, where the difference would lose all digits."""
    one = _like(x, t, 1)
    series = x * (one + x * (_like(x, t, 0.5) + x * (_like(x, t, 1 / 6) + x * _like(x, t, 1 / 24))))
    return t.Select(x > _like(x, t, -0.01), series, t.exp(x) - one)


def _elu(t: Any, x: Any) -> Any:
    return t.Select(x < _like(x, t, 0), _exp_less_one(t, x), x)


def _relu6(t: Any, x: Any) -> Any:
    return smaller(t, larger(t, x, _like(x, t, 0)), _like(x, t, 6))


def _selu(t: Any, x: Any) -> Any:
    scale, slope = _like(x, t, _SELU_SCALE), _like(x, t, _SELU_SCALE * _SELU_ALPHA)
    return t.Select(x < _like(x, t, 0), slope * _exp_less_one(t, x), scale * x)


def _difference(t: Any, a: Any, b: Any) -> Any:
    """``a - b``; of floats not as TVM has it, to which ``x - x`` is 0 for NaN and infinities."""
    return a + b * -1.0 if _has_nan(a) else whole.subtract(t, a, b)


def _squared_difference(t: Any, a: Any, b: Any) -> Any:
    return whole.multiply(t, _difference(t, a, b), _difference(t, a, b))


_FLOATING: Final[dict[str, Callable[..., Any]]] = {
    "Atan": lambda t, x: t.atan(x),
    "Ceil": lambda t, x: t.ceil(x),
    "Cos": lambda t, x: t.cos(x),
    "Elu": _elu,
    "Erf": lambda t, x: t.erf(x),
    "Exp": lambda t, x: t.exp(x),
    "Floor": lambda t, x: t.floor(x),
    "Inv": lambda t, x: _like(x, t, 1) / x,
    "Log": lambda t, x: t.log(x),
    "Reciprocal": lambda t, x: _like(x, t, 1) / x,
    "Rint": lambda t, x: t.nearbyint(x),
    "Rsqrt": lambda t, x: _like(x, t, 1) / t.sqrt(x),
    "Selu": _selu,
    "Sigmoid": _sigmoid,
    "Sin": lambda t, x: t.sin(x),
    "Softplus": _softplus,
    "Softsign": lambda t, x: x / (_like(x, t, 1) + t.abs(x)),
    "Sqrt": lambda t, x: t.sqrt(x),
    "Tanh": lambda t, x: t.tanh(x),
    # ---- of two
    "Atan2": lambda t, a, b: t.atan2(a, b),
    "DivNoNan": lambda t, a, b: t.Select(b == _like(b, t, 0), _like(b, t, 0), a / b),
    "Pow": lambda t, a, b: t.pow(a, b),
}
_NUMERIC: Final[dict[str, Callable[..., Any]]] = {
    "Abs": lambda t, x: t.Select(x < _like(x, t, 0), _neg(t, x), x) if _is_whole(x) else t.abs(x),
    "Neg": _neg,
    "Relu": lambda t, x: larger(t, x, _like(x, t, 0)),
    "Relu6": _relu6,
    "Sign": _sign,
    # ---- of two
    "Add": whole.add,
    "AddV2": whole.add,
    "Maximum": larger,
    "Minimum": smaller,
    "Mul": whole.multiply,
    "Square": lambda t, x: whole.multiply(t, x, x),
    "SquaredDifference": _squared_difference,
    "Sub": _difference,
}
_TO_BOOL: Final[dict[str, Callable[..., Any]]] = {
    # x == x is true to TVM's simplifier, and what is not less is greater: NaN is neither.
    "Equal": lambda t, a, b: t.all(a <= b, a >= b) if _has_nan(a) else a == b,
    "NotEqual": lambda t, a, b: (
        t.any(a < b, a > b, t.isnan(a), t.isnan(b)) if _has_nan(a) else a != b
    ),
    "IsFinite": lambda t, x: t.abs(x) < _like(x, t, math.inf),
    "IsInf": lambda t, x: t.abs(x) == _like(x, t, math.inf),
    "IsNan": lambda t, x: t.isnan(x),
    "LogicalAnd": lambda t, a, b: t.all(a, b),
    "LogicalNot": lambda t, x: t.Select(x, t.const(False, "bool"), t.const(True, "bool")),
    "LogicalOr": lambda t, a, b: t.any(a, b),
}


_OPERATORS: Final[dict[frozenset[str], dict[str, Callable[..., Any]]]] = {
    FLOATS: {"Div": operator.truediv, "RealDiv": operator.truediv},
    _BOOL: {
        "Greater": operator.gt,
        "GreaterEqual": operator.ge,
        "Less": operator.lt,
        "LessEqual": operator.le,
    },
}


def _has_nan(x: Any) -> bool:
    return _dtype(x).startswith("float")


def _is_whole(x: Any) -> bool:
    return not _dtype(x).startswith("float")


def _by_functions(body: Callable[..., Any]) -> Callable[[Call], Any]:
    """A rule of what takes TVM's functions before the elements."""
    return lambda call: call.elements(lambda *xs: body(call.lang.tirx, *xs))


def _by_operator(body: Callable[..., Any]) -> Callable[[Call], Any]:
    return lambda call: call.elements(body)


for _table, _dtypes in ((_FLOATING, FLOATS), (_NUMERIC, _NUMBERS), (_TO_BOOL, _BOOL)):
    for _op, _body in _table.items():
        RULES.of(_op, dtypes=_dtypes)(_by_functions(_body))
for _dtypes, _table in _OPERATORS.items():
    for _op, _body in _table.items():
        RULES.of(_op, dtypes=_dtypes)(_by_operator(_body))


@RULES.of("Identity", "StopGradient", "PreventGradient", "Snapshot")
def _same(call: Call) -> Any:
    return call.inputs[0].tensor


@RULES.of("LeakyRelu", dtypes=FLOATS)
def _leaky_relu(call: Call) -> Any:
    t, slope = call.lang.tirx, float(call.attr("alpha"))
    return call.elements(lambda x: t.Select(x > _like(x, t, 0), x, x * _like(x, t, slope)))


@RULES.of("AddN", dtypes=_NUMBERS)
def _add_n(call: Call) -> Any:
    return call.elements(lambda *xs: reduce(partial(whole.add, call.lang.tirx), xs))


@RULES.of("SelectV2")
def _select(call: Call) -> Any:
    return call.elements(call.lang.tirx.Select)


@RULES.of("Cast")
def _cast(call: Call) -> Any:
    t, dtype = call.lang.tirx, str(call.attr("DstT"))
    if dtype == "bool":
        return call.elements(lambda x: x != _like(x, t, 0))
    return call.elements(lambda x: x.astype(dtype))


@RULES.of("ZerosLike", "OnesLike")
def _filled(call: Call) -> Any:
    value, dtype = int(call.node.op == "OnesLike"), call.inputs[0].dtype
    return call.compute(lambda *_: call.lang.tirx.const(value, dtype))


@RULES.of("BiasAdd", dtypes=_NUMBERS)
def _bias_add(call: Call) -> Any:
    value, bias = call.inputs
    axis = 1 if call.attr("data_format") == "NCHW" else len(value.dims) - 1
    add = partial(whole.add, call.lang.tirx)
    return call.compute(lambda *at: add(value.tensor(*at), bias.tensor(at[axis])))
