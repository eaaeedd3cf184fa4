"""Cases of ranges and of broadcasting's shape arithmetic."""

import itertools

import ml_dtypes
import numpy as np
from oracle import Case, case


def _ranges() -> list[Case]:
    ints = [(0, 5, 1), (3, 18, 3), (3, 0, -1), (5, 5, 1), (0, 10, 4), (3, 0, 1), (0, 3, -1),
            (0, 3, 0), (-(2**31), 2**31 - 1, 2**31 - 1)]  # fmt: skip
    out = [case("Range", *(np.int32(v) for v in row)) for row in ints]
    out += [case("Range", *(np.int64(v) for v in row)) for row in ints[:6]]
    floats = [(0, 1, 0.1), (0, 1, 0.3), (1, 0, -0.25), (0, -1, 0.5), (0.5, 0.5, 1), (0, 40, 0.7),
              (0, 1, 0), (0, np.nan, 1)]  # fmt: skip
    for t in (np.float32, np.float64, ml_dtypes.bfloat16, np.float16):
        tol = 1e-6 if np.dtype(t).itemsize >= 4 else 1e-2
        rows = floats if np.dtype(t).itemsize >= 4 else floats[1:4]
        out += [case("Range", *(np.array(v).astype(t) for v in row), tol=tol) for row in rows]
    one = np.array([0], np.int32)
    out += [case("Range", one, np.int32(3), np.int32(1))]
    return [*out, case("Range", np.zeros(2, np.int32), np.int32(3), np.int32(1))]


def _spaces() -> list[Case]:
    rows = [(0, 1, 5), (0, 1, 1), (1, -1, 4), (2, 2, 3), (0, 1, 0), (0, 10, 2)]
    out = [case("LinSpace", t(a), t(b), np.int32(n)) for t in (np.float32, np.float64)
           for a, b, n in rows]  # fmt: skip
    return [*out, case("LinSpace", np.zeros(1, np.float32), np.float32(1), np.int64(3))]


def _shapes() -> list[Case]:
    shapes = [[], [1], [3], [2, 3], [1, 3], [2, 1], [1, 1], [2, 1, 3], [0, 1], [0, 3]]
    return [
        case(op, np.array(a, t), np.array(b, t))
        for op in ("BroadcastArgs", "BroadcastGradientArgs")
        for t in (np.int32, np.int64)
        for a, b in itertools.product(shapes, shapes)
        if t is np.int32 or len(a) == 2
    ]


CASES = [*_ranges(), *_spaces(), *_shapes()]
