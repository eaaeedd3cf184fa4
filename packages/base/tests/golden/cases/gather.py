"""Elements read by index, along axes, in batches, by index vectors."""

import ml_dtypes
import numpy as np
from oracle import case

_RNG = np.random.default_rng(6)
_X = _RNG.normal(size=(3, 4, 5)).astype(np.float32)
_TEXT = np.array([[b"a", b"bb"], [b"", b"d"], [b"e", b"f"]], object)


def _ints(values: object, dtype: type = np.int32) -> np.ndarray:
    return np.array(values, dtype)


CASES = []
for _i in (1, [0, 2], [[2, 1], [0, 0]], [], [3], [-1], [[0], [7]]):
    for _t in (np.int32, np.int64):
        CASES.append(case("Gather", _X, _ints(_i, _t), tol=0))
        CASES.append(case("GatherV2", _X, _ints(_i, _t), _ints(0), tol=0))
for _axis in range(-4, 4):
    CASES.append(case("GatherV2", _X, _ints([[0, 2], [1, 1]]), _ints(_axis), tol=0))
    CASES.append(case("GatherV2", _X, _ints(2), _ints(_axis, np.int64), tol=0))
for _axis, _batch, _shape in [
    (1, 1, (3, 2)),
    (2, 1, (3, 2)),
    (2, 2, (3, 4, 2)),
    (-1, 1, (3,)),
    (1, -1, (3, 2)),
    (0, 1, (3, 2)),
    (1, 1, (2, 2)),
    (1, 2, (3, 2)),
    (2, 2, (3, 4)),
    (1, 1, (3, 0)),
    (1, 5, (3, 2)),
]:
    _i = _RNG.integers(0, 3, _shape).astype(np.int32)
    CASES.append(case("GatherV2", _X, _i, _ints(_axis), batch_dims=_batch, tol=0))
CASES += [
    case("GatherV2", _TEXT, _ints([2, 0]), _ints(0), tol=0),
    case("GatherV2", _TEXT[0], _ints(1), _ints(0), tol=0),
    case("GatherV2", _TEXT, _ints([[1], [0], [1]]), _ints(1), batch_dims=1, tol=0),
    case("GatherV2", np.zeros((0, 2), np.float32), _ints([], np.int32), _ints(0), tol=0),
    case("GatherV2", np.zeros((0, 2), np.float32), _ints([0]), _ints(0)),
    case("GatherV2", np.float32(1), _ints([0]), _ints(0)),
    case("GatherV2", _X.astype(ml_dtypes.bfloat16), _ints([1]), _ints(1), tol=0),
]

for _i in (
    [[0], [2]],
    [[0, 1], [2, 3]],
    [[0, 1, 2]],
    [1, 2, 3],
    [2],
    [[[1, 1]], [[0, 3]]],
    [[3]],
    [[0, -1]],
    [[0, 0, 0, 0]],
):
    for _t in (np.int32, np.int64):
        CASES.append(case("GatherNd", _X, _ints(_i, _t), tol=0))
CASES += [
    case("GatherNd", _X, np.zeros((2, 0), np.int32), tol=0),
    case("GatherNd", _X, np.zeros((0, 2), np.int32), tol=0),
    case("GatherNd", _TEXT, _ints([[0, 1], [2, 0]]), tol=0),
    case("GatherNd", _TEXT, _ints([1, 1]), tol=0),
    case("GatherNd", np.zeros((0, 2), np.float32), _ints([[0]])),
    case("GatherNd", _X, _ints([[0, 1], [9, 3]]), bad_indices_policy="IGNORE", tol=0),
    case("GatherNd", _X, _ints([[0], [-1]]), bad_indices_policy="IGNORE", tol=0),
    case("GatherNd", _X, _ints([[0], [-1]]), bad_indices_policy="ERROR"),
]

for _shape in [(), (3,), (2, 2), (0,)]:
    for _axis in range(-2, 4):
        for _t in (np.uint8, np.int32, np.int64):
            _i = _RNG.integers(0, 5, _shape).astype(_t)
            CASES.append(
                case("OneHot", _i, _ints(4), np.float32(2), np.float32(-1), axis=_axis, tol=0)
            )
CASES += [
    case("OneHot", _ints([-1, 0, 9]), _ints(3), np.int8(1), np.int8(0), tol=0),
    case("OneHot", _ints([1]), _ints(0), np.float32(1), np.float32(0), tol=0),
    case("OneHot", _ints([1]), _ints(-1), np.float32(1), np.float32(0)),
    case("OneHot", _ints([0, 1]), _ints(2), "on", "off", tol=0),
    case("OneHot", _ints([0, 1]), _ints(2), np.True_, np.False_, tol=0),
    case("OneHot", _ints([0, 1]), _ints([2]), np.float32(1), np.float32(0)),
]
for _i in (1, [0, 2], [[2, 1], [0, 0]], [], [3], [-1]):
    CASES.append(case("ResourceGather", _X, _ints(_i), dtype="float32", tol=0))
    CASES.append(case("ResourceGather", _X, _ints(_i, np.int64), dtype="float32", tol=0))
CASES += [
    case(
        "ResourceGather", _X, _ints([[1, 0], [3, 3], [0, 2]]), dtype="float32", batch_dims=1, tol=0
    ),
    case("ResourceGatherNd", _X, _ints([[0, 1], [2, 3]]), dtype="float32", tol=0),
    case("ResourceGatherNd", _X, _ints([2]), dtype="float32", tol=0),
    case("ResourceGatherNd", _X, _ints([[0, 4]]), dtype="float32"),
]
for _i in (5, [0, 23, 7], [24], [[1]]):
    for _t in (np.int32, np.int64):
        CASES.append(case("UnravelIndex", _ints(_i, _t), _ints([2, 3, 4], _t), tol=0))
CASES.append(case("UnravelIndex", _ints([1]), _ints([2, 0])))
