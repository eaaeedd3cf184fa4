"""Cases of counting and histograms."""

from typing import Any

import numpy as np
from oracle import Case, case

I32 = np.int32
RNG = np.random.default_rng(6)
NONE = np.zeros(0, np.float32)
REAL = (np.float32, np.float64, np.int32, np.int64)


def _counts() -> list[Case]:
    x, out = np.array([1, 2, 2, 9, 0], I32), []
    for op in ("Bincount", "DenseBincount"):
        out += [case(op, x, I32(n), np.zeros(0, t)) for n in (0, 1, 4, 12) for t in REAL]
        out += [case(op, x, I32(4), np.arange(5).astype(t)) for t in REAL]
        out += [
            case(op, x - 1, I32(4), NONE),
            case(op, x, I32(-1), NONE),
            case(op, x[:0], I32(3), NONE),
        ]
        out += [case(op, x, I32(3), np.ones(2, np.float32)), case(op, x, np.array([3], I32), NONE)]
        out.append(case(op, x[:4].reshape(2, 2), I32(4), NONE))
    rows = RNG.integers(0, 5, (3, 4))
    for binary in (False, True):
        out += [
            case("DenseBincount", rows.astype(t), t(4), w, binary_output=binary)
            for t in (np.int32, np.int64)
            for w in (NONE, np.ones((3, 4), np.float32))
        ]
        out.append(case("DenseBincount", x, I32(4), NONE, binary_output=binary))
        splits = np.array([0, 2, 2, 5], np.int64)
        out += [
            case("RaggedBincount", splits, x, I32(4), w, binary_output=binary)
            for w in (NONE, np.arange(5, dtype=np.float32))
        ]
    return [*out, case("DenseBincount", np.zeros((1, 1, 1), I32), I32(2), NONE)]


def _histograms() -> list[Case]:
    values = np.array([-1, 0, 1.5, 2, 5, 15, 4.999], np.float32)
    bounds = np.array([0, 5], np.float32)
    kinds: list[Any] = [np.float32, np.float64, np.int32, np.int64]
    out = [case("HistogramFixedWidth", values.astype(t), bounds.astype(t), I32(5)) for t in kinds]
    out += [case("HistogramFixedWidth", values, bounds, I32(3), dtype="int64")]
    out += [case("HistogramFixedWidth", values, bounds[::-1], I32(5))]
    out += [case("HistogramFixedWidth", values, bounds, I32(0))]
    return [*out, case("HistogramFixedWidth", values * np.float32(np.nan), bounds, I32(3))]


def _sparse() -> list[Case]:
    matrix = np.array([[0, 1], [1, 0], [1, 2]], np.int64), np.array([2, 3], np.int64)
    vector = np.array([[0], [3], [4]], np.int64), np.array([6], np.int64)
    weights = np.array([1, 2, 3], np.float32)
    out = [
        case("SparseBincount", indices, np.array(values, I32), dense, I32(4), w, binary_output=b)
        for indices, dense in (matrix, vector)
        for values in ([1, 2, 2], [0, 9, 3])
        for w in (NONE, weights)
        for b in (False, True)
        if not (b and w.size)
    ]
    bad = matrix[0] + 1
    return [*out, case("SparseBincount", bad, np.array([1, 2, 2], I32), matrix[1], I32(4), NONE)]


def _buckets() -> list[Case]:
    x = np.array([[-5, 0, 1], [1.5, 2, np.inf], [np.nan, -np.inf, 2.5]])
    real = [case("Bucketize", x.astype(t), boundaries=[0.0, 1.0, 1.0, 2.0])
            for t in (np.float32, np.float64)]  # fmt: skip
    ints = [case("Bucketize", np.arange(-2, 4, dtype=t), boundaries=[-0.5, 1.5])
            for t in (np.int32, np.int64)]  # fmt: skip
    return [*real, *ints, case("Bucketize", x, boundaries=[2.0, 1.0])]


CASES = [*_counts(), *_histograms(), *_sparse(), *_buckets()]
