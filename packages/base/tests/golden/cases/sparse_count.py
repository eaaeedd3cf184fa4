"""Counts as sparse tensors."""

import numpy as np
from oracle import case

_RNG = np.random.default_rng(16)
_NONE = np.zeros(0, np.float32)

CASES = []
for _options in (
    {"minlength": -1, "maxlength": -1},
    {"minlength": 9, "maxlength": -1},
    {"minlength": -1, "maxlength": 3},
    {"minlength": 2, "maxlength": 4},
):
    for _binary in (True, False):
        _attrs = dict(_options, binary_output=_binary)
        for _shape in [(6,), (2, 4), (0,), (2, 0)]:
            _v = _RNG.integers(0, 6, _shape)
            CASES.append(case("DenseCountSparseOutput", _v, np.zeros(0, np.int64), **_attrs))
            _w = _RNG.normal(size=_shape).astype(np.float32)
            CASES.append(case("DenseCountSparseOutput", _v, _w, **_attrs))
        _v = np.array([1, 1, 4, 2], np.int32)
        _rows = np.array([[0, 0], [0, 1], [2, 0], [2, 2]])
        CASES += [
            case("SparseCountSparseOutput", _rows, _v, np.array([4, 3]), _NONE, **_attrs),
            case("SparseCountSparseOutput", _rows[:, 1:] + _rows[:, :1], _v, np.array([9]),
                 np.array([1, 2, 3, 4], np.float32), **_attrs),
            case("RaggedCountSparseOutput", np.array([0, 2, 2, 4]), _v, _NONE, **_attrs),
        ]  # fmt: skip
CASES += [
    case("DenseCountSparseOutput", np.array([1, -1]), _NONE, binary_output=False),
    case("DenseCountSparseOutput", np.array([1, 1]), np.ones(3, np.float32), binary_output=False),
    case("RaggedCountSparseOutput", np.array([0, 3]), np.array([1, 1]), _NONE, binary_output=False),
]
