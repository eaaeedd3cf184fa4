"""Cases of Cast between all dtypes with values that do not fit, Bitcast and CheckNumerics."""

from typing import Any

import ml_dtypes
import numpy as np
from oracle import Case, case

BF16 = ml_dtypes.bfloat16
FLOATS: list[Any] = [np.float32, np.float64, np.float16, BF16]
INTS: list[Any] = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOAT8 = ["float8_e5m2", "float8_e4m3fn"]
NAMES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "bool",
    "complex64",
    "complex128",
]
FITTING = [1.7, 0.0, -0.0, 127.5, 100.9, 1e-8, 3.0, 0.99, 64]
SIGNED = [np.nan, np.inf, -np.inf, -1.7, -0.9, -128, 300, -300, 6e4, -1e30]
# In threes: in longer tensors TensorFlow's answer depends on the element's place.
HARD = [
    [np.nan, np.inf, -np.inf],
    [-1.7, 300, -300],
    [3e9, -3e9, 1e19],
    [2.0**63, 5e9, -1e19],
    [2.0**31, -(2.0**31), 255.9],
]


def _source(dtype: Any) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return np.array([info.min, info.max, 0, 1, 100, info.max // 3], kind)
    if kind.kind == "b":
        return np.array([True, False])
    if kind.kind == "c":
        return np.array([1.5 + 2j, -3 + 0j, 0 + 1j, 0]).astype(kind)
    with np.errstate(over="ignore"):
        return np.array(FITTING).astype(kind)


def _casts() -> list[Case]:
    sources = [*FLOATS, *INTS, bool, np.complex64, np.complex128]
    out = [case("Cast", _source(s), tol=0, DstT=d) for s in sources for d in NAMES]
    with np.errstate(over="ignore"):
        out += [
            case("Cast", np.array(row).astype(s), tol=0, DstT=np.dtype(d).name)
            for row in HARD
            for s in FLOATS
            for d in INTS
        ]
        out += [
            case("Cast", np.array(SIGNED).astype(s), tol=0, DstT=d)
            for s in FLOATS
            for d in ("float32", "float64", "float16", "bfloat16", "bool", *FLOAT8)
        ]
    out += [
        case("Cast", _source(s).astype(d), tol=0, DstT="float32")
        for s in (np.float32,)
        for d in (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn)
    ]
    exact = np.array([1 + 2**-9 + 2**-20, 1 + 2**-8, np.nan, 65519, 7e4, -1.999999, 0], np.float32)
    wide = np.array([1 + 2**-24 + 2**-30, -1 - 2**-40, np.nan, np.inf, 1e300])
    out += [case("Cast", exact, tol=0, DstT=d, Truncate=True) for d in ("bfloat16", "float16")]
    out += [case("Cast", wide, tol=0, DstT=d, Truncate=True) for d in ("float32", "bfloat16")]
    out += [case("Cast", np.zeros((0, 2), np.float32), DstT="int32")]
    return [
        *out,
        case("Cast", np.float32(2.7), DstT="int64"),
        case("Cast", np.array("a"), DstT="int32"),
        case("Cast", np.float32(1), DstT="string"),
    ]


def _narrow() -> list[Case]:
    """Between the types of 8 bits and fewer, and from and to wide ones, where TensorFlow does."""
    numbers = [0, -0.0, 1, -1.5, 3.49, 448, 57344, 1e-3, np.nan, np.inf, -np.inf]
    types = (np.float32, BF16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn)
    floats = [np.array(numbers).astype(t) for t in types]
    kinds = ("float32", "float16", "bfloat16", "float64", "float8_e5m2", "float8_e4m3fn")
    out = [case("Cast", x, tol=0, DstT=t) for x in floats for t in kinds]
    signed = np.arange(-8, 8).astype(ml_dtypes.int4)
    unsigned = np.arange(16).astype(ml_dtypes.uint4)
    wide = ("int8", "uint8", "int16", "int32", "int64", "uint64")
    out += [case("Cast", x, tol=0, DstT=t) for x in (signed, unsigned) for t in wide]
    out += [case("Cast", signed, tol=0, DstT="uint4"), case("Cast", unsigned, tol=0, DstT="int4")]
    whole = np.arange(-20, 20)
    return out + [
        case("Cast", whole.astype(k), tol=0, DstT=t)
        for k in (np.int8, np.int32, np.int64, np.uint8)
        for t in ("int4", "uint4")
    ]


def _bitcasts() -> list[Case]:
    x = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    out = [case("Bitcast", x, tol=0, type=t) for t in ("int32", "uint8", "uint16", "float16")]
    out += [
        case("Bitcast", np.arange(16, dtype=np.uint8).reshape(2, 2, 4), tol=0, type=t)
        for t in ("float32", "int32", "int8", "int64", "uint16")
    ]
    out += [case("Bitcast", np.arange(2, dtype=np.int64), tol=0, type="complex64")]
    return [*out, case("Bitcast", np.float32(1), tol=0, type="uint8")]


def _checks() -> list[Case]:
    good = np.array([1, -0.0, 3e38], np.float32)
    bad = [np.array([1, v], np.float32) for v in (np.nan, np.inf, -np.inf)]
    return [
        case(op, x, message="here")
        for op in ("CheckNumerics", "CheckNumericsV2")
        for x in [good, *bad, np.zeros(0, np.float64), good.astype(BF16)]
    ]


CASES = [*_casts(), *_narrow(), *_bitcasts(), *_checks()]
