"""Edit distances of random sequences of numbers and strings."""

import numpy as np
from oracle import case

_RNG = np.random.default_rng(17)


def _sequences(count: int, *, text: bool) -> list[np.ndarray]:
    rows, values = [], []
    for k in range(count):
        for j in range(_RNG.integers(0, 5)):
            rows.append([0, k, j])
            values.append(int(_RNG.integers(0, 3)))
    out = np.array(values, np.int64)
    words = np.array([b"a", b"b", b"c"], object)[out] if text else out
    return [np.array(rows, np.int64).reshape(len(rows), 3), words, np.array([1, count, 5])]


CASES = [
    case("EditDistance", *_sequences(a, text=t), *_sequences(b, text=t), normalize=n)
    for t in (False, True)
    for n in (False, True)
    for a, b in [(6, 6), (3, 6), (6, 2)]
]
_X = _sequences(3, text=False)
CASES.append(case("EditDistance", *_X, _X[0][:, 1:], _X[1], _X[2][1:]))
