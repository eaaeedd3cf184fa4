"""Ragged ranges, gathers and conversions."""

import numpy as np
from oracle import case

_RNG = np.random.default_rng(15)


def _values(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape).astype(np.float32)


def _ints(values: object, dtype: type = np.int64) -> np.ndarray:
    return np.array(values, dtype)


CASES = []
for _s, _l, _d in [
    ([0, 3, 5], [4, 3, 2], [1, 1, -1]), (0, [1, 0, 3], 1), ([2, 4], 10, 3), (0, 5, 2), ([], [], []),
    ([0, 1], [5, 5], [2, 0]), ([0, 1], [5], [1, 1]), ([5], [0], [-2]),
]:  # fmt: skip
    CASES += [
        case("RaggedRange", *(np.array(v, t) for v in (_s, _l, _d)), Tsplits="int64")
        for t in (np.int32, np.int64, np.float32, np.float64)
    ]
CASES.append(case("RaggedRange", np.float32(0), np.float32(1), np.float32(0.1), Tsplits="int32"))

_SPLITS = [_ints([0, 2, 2, 5])]
_NESTED = [_ints([0, 2, 3]), _ints([0, 1, 3, 4])]
for _i in ([0, 2], [1], [2, 2, 0], [], [[0, 1], [2, 0]], [3], [-1]):
    _at = _ints(_i, np.int32)
    _rank = _at.ndim - 1
    CASES += [
        case("RaggedGather", *_SPLITS, _values(5), _at, PARAMS_RAGGED_RANK=1,
             OUTPUT_RAGGED_RANK=1 + _rank, tol=0),
        case("RaggedGather", *_SPLITS, _values(5, 2), _at, PARAMS_RAGGED_RANK=1,
             OUTPUT_RAGGED_RANK=1 + _rank, tol=0),
    ]  # fmt: skip
    if not _at.size or (_at.max() < 2 and _at.min() >= 0):
        CASES.append(
            case("RaggedGather", *_NESTED, _values(4), _at, PARAMS_RAGGED_RANK=2,
                 OUTPUT_RAGGED_RANK=2 + _rank, tol=0)
        )  # fmt: skip

CASES += [
    case("RaggedTensorToSparse", *_SPLITS, _values(5), tol=0),
    case("RaggedTensorToSparse", *_SPLITS, _values(5, 2), tol=0),
    case("RaggedTensorToSparse", *_NESTED, _values(4), tol=0),
    case("RaggedTensorToSparse", _ints([0, 0]), _values(0), tol=0),
    case("RaggedTensorToSparse", _ints([0, 9]), _values(5)),
]

for _shape in (-1, [-1, -1], [3, 2], [2, 4], [4, -1], [-1]):
    CASES += [
        case("RaggedTensorToTensor", _ints(_shape), _values(5), np.float32(-1), *_SPLITS,
             row_partition_types=["ROW_SPLITS"], tol=0),
        case("RaggedTensorToTensor", _ints(_shape), _values(5), np.float32(-1), _ints(3),
             _ints([0, 0, 2, 2, 2]), row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"], tol=0),
    ]  # fmt: skip
for _shape in (-1, [-1, -1, -1], [2, 1, 3], [3, 3, 3]):
    CASES.append(
        case("RaggedTensorToTensor", _ints(_shape), _values(4), np.float32(0), *_NESTED,
             row_partition_types=["ROW_SPLITS", "ROW_SPLITS"], tol=0)
    )  # fmt: skip
    CASES.append(
        case("RaggedTensorToTensor", _ints(_shape), _values(5, 2), _values(2), *_SPLITS,
             row_partition_types=["ROW_SPLITS"], tol=0)
    )  # fmt: skip
_TEXT = np.array([b"a", b"b", b"c", b"d", b"e"], object)
CASES.append(
    case("RaggedTensorToTensor", _ints(-1), _TEXT, "", *_SPLITS, row_partition_types=["ROW_SPLITS"],
         tol=0)
)  # fmt: skip
for _rows, _count in [([0, 0, 2], 4), ([], 2), ([1, 1], 2), ([3], 2)]:
    CASES.append(
        case("RaggedFillEmptyRows", _ints(_rows), _values(len(_rows)), _ints(_count), np.float32(9),
             tol=0)
    )  # fmt: skip
CASES.append(case("RaggedFillEmptyRowsGrad", _ints([2, 0]), _values(4)))
