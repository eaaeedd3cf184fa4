"""The edit distance against its recursive definition."""

from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.executor.testing import infer_shapes, run_op

WORD = st.text("ab", max_size=5)


def _sparse(word: str) -> list[np.ndarray]:  # type: ignore[type-arg]
    letters = np.empty(len(word), object)
    letters[:] = [c.encode() for c in word]
    rows = np.array([[0, k] for k in range(len(word))], np.int64).reshape(len(word), 2)
    return [rows, letters, np.array([1, 9])]


@cache
def _naive(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    change = _naive(a[1:], b[1:]) + (a[0] != b[0])
    return min(change, _naive(a[1:], b) + 1, _naive(a, b[1:]) + 1)


@settings(max_examples=50)
@given(WORD, WORD)
def test_distance(a: str, b: str) -> None:
    (out,) = run_op("EditDistance", *_sparse(a), *_sparse(b), normalize=False)
    assert out.tolist() == [_naive(a, b)]
    (share,) = run_op("EditDistance", *_sparse(a), *_sparse(b))
    wanted = _naive(a, b) / len(b) if b else (np.inf if a else 0)
    assert np.allclose(share, wanted)


def test_inference() -> None:
    shapes = [(-1, 3), (-1,), (3,)] * 2
    values = [None, None, np.array([2, 5, 7]), None, None, np.array([3, 4, 9])]
    assert infer_shapes("EditDistance", shapes, values=values) == [(3, 5)]
    assert infer_shapes("EditDistance", shapes) == [(-1, -1)]
