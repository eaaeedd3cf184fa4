"""Set operations along the last dimension."""

import numpy as np
from oracle import case

_RNG = np.random.default_rng(14)
_NAMES = ("a-b", "b-a", "intersection", "union")


def _sparse(shape: tuple[int, ...], count: int, dtype: type) -> list[np.ndarray]:
    flat = np.sort(_RNG.choice(int(np.prod(shape)), count, replace=False))
    rows = np.stack(np.unravel_index(flat, shape), -1).astype(np.int64)
    return [rows, _RNG.integers(0, 6, count).astype(dtype), np.array(shape, np.int64)]


CASES = []
for _name in _NAMES:
    for _t in (np.int32, np.int64, np.uint8):
        for _lead in [(2,), (2, 2)]:
            _a = _RNG.integers(0, 6, (*_lead, 4)).astype(_t)
            _b = _RNG.integers(0, 6, (*_lead, 3)).astype(_t)
            _x, _y = _sparse((*_lead, 5), 6, _t), _sparse((*_lead, 4), 5, _t)
            CASES += [
                case("DenseToDenseSetOperation", _a, _b, set_operation=_name, tol=0),
                case("DenseToSparseSetOperation", _a, *_y, set_operation=_name, tol=0),
                case("SparseToSparseSetOperation", *_x, *_y, set_operation=_name, tol=0),
            ]
    _text = np.array([[b"a", b"b"], [b"c", b"c"]], object)
    CASES.append(case("DenseToDenseSetOperation", _text, _text[::-1], set_operation=_name, tol=0))
CASES += [
    case("SetSize", *_sparse((2, 3, 4), 9, np.int32), tol=0),
    case("SetSize", *_sparse((3, 4), 0, np.int32), tol=0),
    case("DenseToDenseSetOperation", np.ones((2, 3), np.int32), np.ones((3, 3), np.int32),
         set_operation="union"),
]  # fmt: skip
