"""Elementwise functions of one argument, and the gradients of some of them.

Source: TensorFlow ops of the same names. Every kernel keeps the input's shape; float16 and bfloat16
are computed in float32 and rounded once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import VARIANT
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank, zeros_like_variants
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.math._elementwise import Function, unary


def _sign(x: Array) -> Any:
    if x.dtype.kind != "c":
        return np.sign(x)
    return np.where(x == 0, x.dtype.type(0), x / np.abs(x))


def _reciprocal(x: Array) -> Any:
    return x.dtype.type(1) / x


def _rsqrt(x: Array) -> Any:
    root = x.dtype.type(1) / np.sqrt(x)
    return root if x.dtype.kind == "c" else np.where(x == 0, np.copysign(np.inf, x), root)


def _sigmoid(x: Array) -> Any:
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    # exp of a negative number cannot overflow, so both tails keep their precision.
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def _rint(x: Array) -> Any:
    return x if x.dtype.kind in "iu" else np.rint(x)


_FUNCTIONS: Final[dict[str, Function]] = {
    "Abs": np.abs,
    "Neg": np.negative,
    "Sign": _sign,
    "Reciprocal": _reciprocal,
    "Inv": _reciprocal,
    "Square": np.square,
    "Sqrt": np.sqrt,
    "Rsqrt": _rsqrt,
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
    "Sigmoid": _sigmoid,
    "Ceil": np.ceil,
    "Floor": np.floor,
    "Round": _rint,
    "Rint": _rint,
    "Invert": np.invert,
    "LogicalNot": np.logical_not,
    "Conj": np.conjugate,
}

for _op, _function in _FUNCTIONS.items():
    kernel(_op)(unary(_function))


@kernel("IsNan")
def is_nan(_: Call, x: Array) -> Array:
    """Whether each element is NaN, as bool."""
    return np.asarray(np.isnan(widen(x)))


@kernel("IsInf")
def is_inf(_: Call, x: Array) -> Array:
    """Whether each element is an infinity, as bool."""
    return np.asarray(np.isinf(widen(x)))


@kernel("IsFinite")
def is_finite(_: Call, x: Array) -> Array:
    """Whether each element is neither NaN nor infinite, as bool."""
    return np.asarray(np.isfinite(widen(x)))


@kernel("OnesLike")
def ones_like(_: Call, x: Array) -> Array:
    """Ones of the input's shape and dtype."""
    return np.ones(x.shape, x.dtype)


@kernel("ZerosLike")
def zeros_like(call: Call, x: Array) -> Array:
    """Zeros of the input's shape and dtype; empty strings; the zero that a variant's kind has."""
    if call.attrs["T"] is VARIANT:
        return zeros_like_variants(x)
    return blank(x.shape, call.attrs["T"])


@kernel("Real")
def real(call: Call, x: Array) -> Array:
    """``Re(x)`` of complex numbers of any shape, of dtype ``Tout``."""
    return np.real(x).astype(call.attrs["Tout"].np)


@kernel("Imag")
def imag(call: Call, x: Array) -> Array:
    """Imaginary parts, as ``Tout``."""
    return np.imag(x).astype(call.attrs["Tout"].np)


@kernel("Angle")
def angle(call: Call, x: Array) -> Array:
    """Arguments of complex numbers in radians, in (-pi, pi], as ``Tout``."""
    return np.asarray(np.angle(x)).astype(call.attrs["Tout"].np)


@kernel("ComplexAbs")
@quiet
def complex_abs(call: Call, x: Array) -> Array:
    """Magnitudes of complex numbers, as ``Tout``."""
    return np.asarray(np.abs(x)).astype(call.attrs["Tout"].np)


@kernel("PopulationCount")
def population_count(_: Call, x: Array) -> Array:
    """Number of set bits of each integer, as uint8."""
    octets = np.ascontiguousarray(x).reshape(-1, 1).view(np.uint8)
    counts = np.unpackbits(octets, axis=-1).sum(axis=-1, dtype=np.uint8)
    return np.asarray(counts).reshape(x.shape)


def _reciprocal_grad(y: Array, dy: Array) -> Any:
    return -dy * np.conjugate(y) ** 2


# Of a complex y the conjugate counts, but not in the first two: TensorFlow leaves it out there.
_GRADIENTS: Final[dict[str, Function]] = {
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y),
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
    "SqrtGrad": lambda y, dy: dy * y.dtype.type(0.5) / np.conjugate(y),
    "RsqrtGrad": lambda y, dy: dy * y.dtype.type(-0.5) * np.conjugate(y) ** 3,
    "ReciprocalGrad": _reciprocal_grad,
    "InvGrad": _reciprocal_grad,
}


def _gradient(function: Function) -> Function:
    """A kernel of the op's output ``y`` and the gradient ``dy`` with respect to it."""

    @quiet
    def run(call: Call, y: Array, dy: Array) -> Array:
        call.require(
            y.size == dy.size,
            "output and gradient must have equally many elements",
            found=f"{list(y.shape)} and {list(dy.shape)}",
            needed="equal shapes",
        )
        out = function(widen(y), widen(dy).reshape(y.shape))
        return np.asarray(out).astype(y.dtype, copy=False)

    return run


for _op, _function in _GRADIENTS.items():
    kernel(_op)(_gradient(_function))
