"""Cases of bitwise operations on every integer type, with shift distances out of range."""

from typing import Any

import numpy as np
from oracle import case

RNG = np.random.default_rng(5)
TYPES = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def _ints(dtype: Any, *shape: int) -> np.ndarray[Any, Any]:
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


CASES = [
    case(op, _ints(t, 3, 4), _ints(t, 4))
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
    for t in TYPES
]
CASES += [
    case(
        op, _ints(t, 12), (np.arange(12) * 7 % 70 - (5 if np.dtype(t).kind == "i" else 0)).astype(t)
    )
    for op in ("LeftShift", "RightShift")
    for t in TYPES
]
