"""float32 functions within 4 units in the last place of the true value, over the whole range."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import native_ops
import numpy as np
import pytest

LIMIT: Final = 4.0
Function = Callable[..., Any]

# NumPy's long double has 64 bits of mantissa on x86-64 and at least those of double elsewhere.
_LONG: Final = np.longdouble
_erf: Final = np.frompyfunc(math.erf, 1, 1)
_erfc: Final = np.frompyfunc(math.erfc, 1, 1)


def _sigmoid(x: Any) -> Any:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def _softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _selu(x: Any) -> Any:
    scale = np.float32(1.0507009873554805).astype(_LONG)
    slope = np.float32(1.0507009873554805 * 1.6732632423543772).astype(_LONG)
    return np.where(x < 0, slope * np.expm1(x), scale * x)


UNARY: Final[dict[str, Function]] = {
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Log": np.log,
    "Log1p": np.log1p,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Tanh": np.tanh,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Erf": lambda x: np.asarray(_erf(x)).astype(_LONG),
    "Erfc": lambda x: np.asarray(_erfc(x)).astype(_LONG),
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Reciprocal": lambda x: 1 / x,
    "Sigmoid": _sigmoid,
    "Softplus": _softplus,
    "Softsign": lambda x: x / (np.abs(x) + 1),
    "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "Selu": _selu,
}

SPECIAL: Final = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-45, -1e-45, 3.4028235e38, -3.4028235e38,
     1.1754944e-38, 1.1754942e-38, 0.5, -0.5, 2, 88.72283, 88.72284, -87.33655, -103.97208,
     -103.97209, 89.5, 16.0, 1e5, 1.0000001e5, 0.95, 0.70710677, 0.70710683, 1.4142135],
    np.float32,
)  # fmt: skip


def floats(count: int, seed: int = 0) -> Any:
    """Random bit patterns, numbers of common sizes, and the special ones."""
    draw = np.random.default_rng(seed)
    bits = draw.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)
    common = draw.normal(size=count) * 10.0 ** draw.integers(-4, 3, count)
    near = 1 + draw.normal(size=count // 4) * 10.0 ** draw.integers(-7, 0, count // 4)
    return np.concatenate([SPECIAL, bits, common.astype(np.float32), near.astype(np.float32)])


def worst_ulps(got: Any, true: Any) -> tuple[float, int]:
    """The largest distance in units of the last place, and where. Infinities and NaN must agree."""
    true = np.asarray(true, _LONG)
    with np.errstate(all="ignore"):
        want = true.astype(np.float32)
        unit = np.spacing(np.minimum(np.abs(want), np.float32(3.4e38))).astype(_LONG)
        apart = np.abs(got.astype(_LONG) - true) / unit
    # Beside an overflow the largest number and infinity are neighbours.
    edge = (np.abs(true) > 3.4028e38) & (np.abs(got) > 3.4028e38) & (np.sign(got) == np.sign(true))
    same = (got == want) | (np.isnan(got) & np.isnan(want)) | edge
    apart = np.where(same, 0, np.where(np.isfinite(apart), apart, np.inf))
    where = int(np.argmax(apart))
    return float(apart[where]), where


@pytest.mark.parametrize("op", UNARY)
def test_functions_of_one_number(op: str) -> None:
    x = floats(30_000)
    (got,) = native_ops.run_native(op, x)
    with np.errstate(all="ignore"):
        true = UNARY[op](x.astype(_LONG))
    worst, where = worst_ulps(got, true)
    print(op, worst, x[where])
    assert worst <= LIMIT, f"{op}({x[where]!r}) = {got[where]!r}, not {true[where]!r}: {worst} ulp"


@pytest.mark.parametrize(
    "op", ["Expm1", "Log1p", "Tanh", "Erf", "Sin", "Tan", "Relu", "Neg", "Floor"]
)
def test_a_zero_keeps_its_sign(op: str) -> None:
    x = np.array([0.0, -0.0] * 20, np.float32)
    (got,) = native_ops.run_native(op, x)
    assert (np.signbit(got) == np.signbit(-x if op == "Neg" else x)).all()


def test_powers() -> None:
    x = np.concatenate([floats(30_000, 1), np.tile(SPECIAL, len(SPECIAL))])
    y = np.concatenate([floats(30_000, 2), np.repeat(SPECIAL, len(SPECIAL))])
    whole = np.random.default_rng(3).integers(-20, 20, x.size // 4).astype(np.float32)
    y[: whole.size] = whole
    (got,) = native_ops.run_native("Pow", x, y)
    with np.errstate(all="ignore"):
        true = np.power(x.astype(_LONG), y.astype(_LONG))
    worst, where = worst_ulps(got, true)
    assert worst <= LIMIT, f"{x[where]!r} ** {y[where]!r} = {got[where]!r}, not {true[where]!r}"


def test_half_precision_is_rounded_once() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for op, function in (("Neg", np.negative), ("Sqrt", np.sqrt), ("Square", np.square)):
        (got,) = native_ops.run_native(op, every)
        with np.errstate(all="ignore"):
            want = function(every.astype(np.float32)).astype(np.float16)
        np.testing.assert_array_equal(got, want)
