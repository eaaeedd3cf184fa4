"""Cases of elementwise functions of one argument: ordinary, special and out-of-domain values."""

from typing import Any

import ml_dtypes
import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(1)
SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, -1, 1, 2.5, -0.5, 0.5, 1.5, 20, -20, 0.1])
FLOATS = [
    "Abs", "Neg", "Sign", "Reciprocal", "Inv", "Square", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log",
    "Log1p", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh",
    "Atanh", "Sigmoid", "Ceil", "Floor", "Round", "Rint",
]  # fmt: skip
COMPLEX = [
    "Neg", "Sign", "Reciprocal", "Inv", "Square", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p",
    "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Sigmoid", "Asin", "Acos", "Atan", "Asinh",
    "Acosh", "Atanh",
]  # fmt: skip
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
GRADS = ["SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"]
SMALL = (np.float16, ml_dtypes.bfloat16)


def _edges(dtype: Any) -> np.ndarray[Any, Any]:
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, 0, 1, 5, 7], dtype)


def _floats() -> list[Case]:
    out: list[Case] = []
    for op in FLOATS:
        common = RNG.uniform(-3, 3, (3, 5)).astype(np.float32)
        out += [
            case(op, common),
            case(op, np.abs(common)),
            case(op, (common / 3).astype(np.float32)),
        ]
        out += [case(op, SPECIAL.astype(np.float32)), case(op, np.float32(0.25))]
        out += [case(op, common.astype(np.float64), tol=1e-12), case(op, SPECIAL, tol=1e-12)]
        out.append(case(op, np.zeros((0, 3), np.float32)))
        if op != "Rint":
            out += [case(op, common.astype(t), tol=1e-2) for t in SMALL]
    return out


def _complex() -> list[Case]:
    z = RNG.normal(size=6) + 1j * RNG.normal(size=6)
    out = [case(op, z.astype(t), tol=1e-4) for op in COMPLEX for t in (np.complex64, np.complex128)]
    for t, part in ((np.complex64, "float32"), (np.complex128, "float64")):
        odd = np.append(z, [0, -1, complex(np.nan, 1)]).astype(t)
        out += [case(op, odd, Tout=part) for op in ("Real", "Imag", "Angle", "ComplexAbs")]
        out += [case("Conj", odd), case("Sign", np.array([3 + 4j, 0], t))]
    return out


def _integers() -> list[Case]:
    out = [case(op, _edges(t)) for op in ("Abs", "Neg", "Sign", "Square") for t in SIGNED]
    out += [case("Square", _edges(t)) for t in UNSIGNED]
    every = (*SIGNED, *UNSIGNED)
    return out + [case(op, _edges(t)) for op in ("Invert", "PopulationCount") for t in every]


def _others() -> list[Case]:
    out: list[Case] = [case("LogicalNot", np.array([True, False]))]
    for t in (np.float32, np.float64, *SMALL):
        out += [case(op, SPECIAL.astype(t)) for op in ("IsNan", "IsInf", "IsFinite")]
    kinds = (np.float32, np.float64, *SMALL, np.int8, np.uint16, np.int64, bool, np.complex64)
    for t in kinds:
        out += [case(op, np.ones((2, 3)).astype(t)) for op in ("OnesLike", "ZerosLike")]
    return [*out, case("ZerosLike", np.array(["a", "bc"]))]


def _gradients() -> list[Case]:
    out: list[Case] = []
    for op in GRADS:
        y, dy = RNG.uniform(0.1, 1, (2, 3, 4))
        out += [case(op, y.astype(t), dy.astype(t)) for t in (np.float32, np.float64)]
        out += [case(op, y.astype(t), dy.astype(t), tol=2e-2) for t in SMALL]
        z, dz = (v + 1j * v[::-1] for v in (y, dy))
        out.append(case(op, z.astype(np.complex64), dz.astype(np.complex64)))
        out.append(case(op, np.array([0, np.inf], np.float32), np.array([1, 1], np.float32)))
    return out


CASES = [*_floats(), *_complex(), *_integers(), *_others(), *_gradients()]
