"""Golden cases of inputs in shapes that an op does not expect: vectors of one, ranks, empties."""

from collections.abc import Iterator

import numpy as np
from drawing import floats, ints
from oracle import Case, case


def _scalars() -> Iterator[Case]:
    """What must be a scalar is none as a vector of one."""
    groups = ints(0, 1, 2, 3).reshape(2, 2)
    for device, key in ((np.int32(3), ints(5)), (ints(3), np.int32(5)), (np.int32(3), np.int32(5))):
        yield case("CollectiveAssignGroupV2", groups, device, key)
    x, state = np.ones((1, 1, 1), "f4"), np.ones((1, 1), "f4")
    weights = [np.ones(s, "f4") for s in ((2, 4), 1, 1, 1, 4)]
    for count in (np.int64(1), np.array([1])):
        for version in ("", "V2"):
            yield case(f"BlockLSTM{version}", count, x, state, state, *weights)
            yield case(f"BlockLSTMGrad{version}", count, x, state, state, *weights, *[x] * 9,
                       use_peephole=False)  # fmt: skip
    for bins in (np.int32(3), ints(3)):
        yield case("HistogramFixedWidth", floats([1, 2, 2.5]), floats([0, 3]), bins)
    words = np.array([b"a", b"b"], object)
    for count in (np.int32(2), ints(2)):
        yield case("UnsortedSegmentJoin", words, ints(1, 0), count)
    for axis in (np.int64(0), np.array([0])):
        yield case("SparseSplit", axis, np.array([[1]]), floats([1]), np.array([3]), num_split=1)
    for algorithm in (np.int32(1), ints(1)):
        yield case("XlaRngBitGenerator", algorithm, np.ones(2, np.uint64), ints(2), dtype="uint32")


def _groups() -> Iterator[Case]:
    """The groups of devices are read up to the one that is looked for."""
    for odd in (4, -1):
        for device in (1, 3):
            groups = ints(0, 1, odd, 3).reshape(2, 2)
            yield case("CollectiveAssignGroupV2", groups, np.int32(device), np.int32(5))
    whole = ints(0, 1, 2, 3).reshape(2, 2)
    for device, key in ((1, 0), (1, -1), (3, -1), (-5, 1), (9, 1)):
        yield case("CollectiveAssignGroupV2", whole, np.int32(device), np.int32(key))


def _weights() -> Iterator[Case]:
    for values in (ints(1, 2, 2), ints(1, 2, 2)[None]):
        for weights in (
            floats([1, 2, 3]),
            floats([[1, 2, 3]]),
            floats([[1], [2], [3]]),
            floats([]),
        ):
            yield case("Bincount", values, np.int32(4), weights)
            yield case("DenseBincount", values, np.int32(4), weights)


def _sparse() -> Iterator[Case]:
    """Sparse tensors without a rank, and of more elements than 64 bits count."""
    none, far = np.zeros((1, 0), np.int64), np.array([2**62, 4])
    at, one = np.array([[0, 0]]), floats([1])
    for op, more in (("SparseAdd", [floats(0)]), ("SparseSparseMaximum", []),
                     ("SparseSparseMinimum", [])):  # fmt: skip
        for dims, rows in ((none[0], none), (np.array([2, 3]), at)):
            yield case(op, rows, one, dims, rows, one, dims, *more)
    for dims in (far, np.array([2**33, 2**33]), np.array([2, 3])):
        for kind in ("Add", "Mul", "Div"):
            yield case(f"SparseDenseCwise{kind}", at, one, dims, floats(1))
        yield case("SparseToSparseSetOperation", at, ints(1), dims, at, ints(1), dims,
                   set_operation="union")  # fmt: skip
        for rows in (1, 2):
            dense = np.zeros((rows, 2), np.int32)
            yield case("DenseToSparseSetOperation", dense, at, ints(1), dims, set_operation="union")
    yield case("DynamicStitch", ints(2**31 - 1), np.zeros((1, 0), "f4"), N=1)
    two, shape = np.array([0, 2, 4]), np.array([1, 4, 4, 1])
    yield case("FractionalAvgPoolGrad", shape, np.zeros((0, 2, 2, 1), "f4"), two, two)
    yield case("FractionalAvgPoolGrad", shape, np.zeros((1, 2, 0, 1), "f4"), two, two[:1])


def _draws() -> Iterator[Case]:
    """Of no numbers any algorithm will do, with a counter as long as its number."""
    key, counter = np.array([7], np.uint64), np.array([1, 2, 3], np.uint64)
    for algorithm in (1, 3, 0, -1, 5, 2**31 - 1):
        yield case("StatelessRandomNormalV2", ints(1, 0), key, counter, np.int32(algorithm))


CASES: list[Case] = [*_scalars(), *_groups(), *_weights(), *_sparse(), *_draws()]
