"""Elements in pieces: the same as in one go, and others run in between."""

import sys
import threading

import numpy as np
import pytest

from drystone_base.kernels._pieces import PIECE, elements
from drystone_base.kernels.math import _segments
from drystone_base.kernels.math._segments import fold_rows
from drystone_base.kernels.random._distributions import permutation
from drystone_base.kernels.random._philox import Stream

SIZES = (0, 1, 2, 5, PIECE, PIECE + 1, PIECE + 2, 2 * PIECE + 7)


@pytest.mark.parametrize("size", SIZES)
def test_elements_are_those_of_a_list(size: int) -> None:
    array = np.arange(2 * size).reshape(size, 2)[:, 1]  # not contiguous
    assert list(elements(array)) == array.tolist()


@pytest.mark.parametrize("size", SIZES)
def test_a_shuffle_in_pieces_is_that_of_one_go(size: int) -> None:
    stream = Stream(12345, (1 << 64) - 5)
    words = stream.blocks(-(-max(size - 1, 0) // 4)).ravel().tolist()
    order = list(range(size))
    for k, word in zip(range(size - 1), words, strict=False):
        other = k + word % (size - k)
        order[k], order[other] = order[other], order[k]
    np.testing.assert_array_equal(permutation(stream, size), np.array(order, np.int64))


def test_others_run_between_pieces() -> None:
    """A call of C that goes through all elements never lets another thread have the lock."""
    ran, goes = threading.Event(), threading.Event()

    def other() -> None:
        goes.set()
        goes.wait()
        ran.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        thread = threading.Thread(target=other)
        parts = elements(np.zeros(200 * PIECE, np.int64))
        next(parts)
        thread.start()
        for _ in parts:
            if ran.is_set():
                break
        assert ran.is_set()
        assert next(parts, None) is not None
    finally:
        sys.setswitchinterval(before)
        thread.join()


@pytest.mark.parametrize("shape", [(0,), (1,), (400,), (400, 3), (400, 0), (7, 2, 2)])
@pytest.mark.parametrize("piece", [1, 5, 64, 1 << 20])
def test_segments_are_folded_alike_in_any_pieces(
    shape: tuple[int, ...], piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(piece)
    ids = np.sort(rng.integers(0, 40, shape[0]))
    rows = rng.normal(size=shape).astype(np.float32)
    whole = fold_rows(np.add, rows, ids, 41, 7)
    monkeypatch.setattr(_segments, "_PIECE", piece)
    np.testing.assert_array_equal(fold_rows(np.add, rows, ids, 41, 7), whole)
    for k in range(41):
        want = rows[ids == k].sum(0) if (ids == k).any() else np.full(shape[1:], 7)
        np.testing.assert_allclose(whole[k], want, rtol=1e-4, atol=1e-5)
