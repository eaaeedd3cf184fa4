"""Cases of reductions over segments: sorted, unsorted, of gathered rows, and gradients."""

from typing import Any

import ml_dtypes
import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(7)
I32 = np.int32
SORTED = ["SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax"]
UNSORTED = [f"UnsortedSegment{n}" for n in ("Sum", "Prod", "Min", "Max")]
KINDS = ["Sum", "Mean", "SqrtN"]
REAL: list[Any] = [np.float32, np.float64, np.int8, np.uint8, np.int32, np.int64, np.uint16]
SMALL: list[Any] = [np.float16, ml_dtypes.bfloat16]


def _data(dtype: Any, *shape: int) -> np.ndarray[Any, Any]:
    values = RNG.normal(scale=3, size=shape)
    return (np.abs(values) if np.dtype(dtype).kind == "u" else values).astype(dtype)


def _sorted() -> list[Case]:
    ids, out = np.array([0, 0, 2, 2, 3], I32), []
    bad: list[list[int]] = [[0, 2, 1, 3, 3], [-1, 0, 0, 1, 1], [0, 1], [0]]
    for op in SORTED:
        out += [case(op, _data(t, 5, 3), ids) for t in REAL]
        out += [case(op, _data(t, 5, 3), ids, tol=1e-2) for t in SMALL]
        out += [case(op, _data(np.float32, 5), ids.astype(np.int64) + 1)]
        out += [case(op, _data(np.float32, 5, 2), np.array(row, I32)) for row in bad]
        out += [case(op, np.zeros((0, 2), np.float32), ids[:0]), case(op, np.float32(1), ids[:1])]
        out += [case(op, _data(np.float32, 5, 2), ids.reshape(1, 5))]
    return out


def _unsorted() -> list[Case]:
    ids, out = np.array([3, -1, 0, 3, 1], I32), []
    for op in UNSORTED:
        out += [case(op, _data(t, 5, 2), ids, I32(5)) for t in REAL]
        out += [case(op, _data(t, 5, 2), ids, I32(5), tol=1e-2) for t in SMALL]
        out += [case(op, _data(np.float32, 5, 2), ids, I32(n)) for n in (3, -1)]
        out += [case(op, _data(np.float32, 2, 2, 3), np.array([[0, 1], [1, 0]], I32), np.int64(2))]
        out += [case(op, _data(np.float32, 2, 3), I32(0), I32(1))]
        out += [case(op, np.zeros((0, 2), np.float32), ids[:0], I32(2))]
        out += [case(op, _data(np.float32, 5), ids, np.array([4], I32))]
        out += [case(op, _data(np.float32, 3, 2), ids, I32(4))]
    return out


def _sparse() -> list[Case]:
    indices, ids, out = np.array([0, 2, 1, 0], I32), np.array([0, 0, 2, 2], I32), []
    for kind in KINDS:
        op = f"SparseSegment{kind}"
        counted = f"{op}WithNumSegments"
        kinds = [np.float32, np.float64, *([np.int32, np.uint8] if kind == "Sum" else [])]
        out += [case(op, _data(t, 3, 2), indices, ids) for t in kinds]
        out += [case(op, _data(t, 3, 2), indices, ids, tol=1e-2) for t in SMALL]
        out += [case(op, _data(np.float32, 3, 2), indices.astype(np.int64), ids.astype(np.int64))]
        out += [case(op, _data(np.float32, 3, 2, 2), indices, ids + 1)]
        out += [case(op, _data(np.float32, 3, 2), indices[:0], ids[:0])]
        bad = [(indices + 1, ids), (indices - 1, ids), (indices, ids[::-1]), (indices, ids[:2]),
               (indices, ids - 1)]  # fmt: skip
        out += [case(op, _data(np.float32, 3, 2), a, b) for a, b in bad]
        out += [case(counted, _data(np.float32, 3, 2), indices, ids, I32(n)) for n in (3, 5, 2, -1)]
        out += [case(counted, _data(np.float32, 3, 2), indices[:0], ids[:0], I32(2))]
    return out


def _gradients() -> list[Case]:
    indices, ids, out = np.array([3, 2, 3, 0], I32), np.array([0, 0, 2, 2], I32), []
    for kind in KINDS:
        for op in (f"SparseSegment{kind}Grad", f"SparseSegment{kind}GradV2"):
            out += [
                case(op, _data(t, 3, 2), indices, ids, I32(4)) for t in (np.float32, np.float64)
            ]
            out += [case(op, _data(t, 3, 2), indices, ids, I32(4), tol=1e-2) for t in SMALL]
            out += [case(op, _data(np.float32, 3, 2), indices, ids[::-1], I32(5))]
            bad = [(indices + 1, ids), (indices, ids + 1), (indices, ids[:2])]
            out += [case(op, _data(np.float32, 3, 2), a, b, I32(4)) for a, b in bad]
    return out


CASES = [*_sorted(), *_unsorted(), *_sparse(), *_gradients()]
