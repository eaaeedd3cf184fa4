"""Sparse shapes of more elements than 64 bits hold: refused as by the kernels in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import assert_agrees
from hypothesis import given, settings
from hypothesis import strategies as st

HUGE = (0, 1, 2, 5, 2**31, 2**32, 2**32 + 1, 3037000500, 2**61, 2**62, 2**63 - 2, 2**63 - 1)


@pytest.mark.parametrize("dims", [[2**62, 4], [2**62, 0], [3, 4]])
def test_numbers_of_elements(dims: list[int]) -> None:
    shape = np.array(dims, np.int64)
    rows, values = np.zeros((min(dims[1], 1), 2), np.int64), np.ones(min(dims[1], 1), np.float32)
    assert_agrees("SparseSplit", np.int64(0), rows, values, shape, num_split=2)
    assert_agrees("SparseConcat", rows, rows, values, values, shape, shape, concat_dim=1, N=2)
    assert_agrees("SparseConcat", rows, rows, values, values, shape, shape, concat_dim=0, N=2)
    assert_agrees("SparseSoftmax", rows, values, shape, exact=False)
    for op in ("SparseReduceSumSparse", "SparseReduceMaxSparse"):
        assert_agrees(op, rows, values, shape, np.array([1], np.int32), keep_dims=True)
    assert_agrees("SparseReshape", rows, shape, np.array([-1], np.int64))
    assert_agrees("SparseSlice", rows, values, shape, np.zeros(2, np.int64), shape)
    words = (rows, values.astype(np.int64), shape)
    assert_agrees("EditDistance", *words, *words, normalize=False, exact=False)


@st.composite
def _sparse(draw: Any) -> tuple[Any, Any, Any]:
    """A sparse matrix of some huge shape, its places mostly inside, some at its ends."""
    shape = draw(st.tuples(st.sampled_from(HUGE), st.sampled_from(HUGE)))
    place = [st.sampled_from(sorted({0, n // 2, max(n - 1, 0), draw(st.sampled_from(HUGE))}))
             for n in shape]  # fmt: skip
    rows = sorted(draw(st.sets(st.tuples(*place), max_size=3)))
    indices = np.array(rows, np.int64).reshape(-1, 2)
    return indices, np.arange(1, len(rows) + 1, dtype=np.float32), np.array(shape, np.int64)


@settings(max_examples=80, deadline=None)
@given(_sparse(), _sparse(), st.integers(0, 1), st.sampled_from([(-1,), (-1, 2), (2**62, 4), (5,)]))
def test_shapes_and_places_near_the_end_of_64_bits(
    one: Any, other: Any, axis: int, target: tuple[int, ...]
) -> None:
    indices, values, shape = one
    assert_agrees("SparseReorder", *one)
    assert_agrees("SparseReshape", indices, shape, np.array(target, np.int64))
    assert_agrees("SparseSplit", np.int64(axis), *one, num_split=2)
    assert_agrees("SparseSlice", *one, other[2] // 2, other[2])
    pairs = [[one[k], other[k]] for k in range(3)]
    assert_agrees("SparseConcat", *pairs[0], *pairs[1], *pairs[2], concat_dim=axis, N=2)
    assert_agrees("SparseAdd", *one, *other, np.float32(0))
    for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
        assert_agrees(op, *one, *other)
    for op in ("SparseReduceSum", "SparseReduceMax", "SparseReduceSumSparse"):
        assert_agrees(op, *one, np.array([axis], np.int32), keep_dims=False, exact=False)
    assert_agrees("SparseSoftmax", *one, exact=False)
    words = (indices, values.astype(np.int64), shape)
    assert_agrees("EditDistance", *words, other[0], other[1].astype(np.int64), other[2],
                  normalize=True, exact=False)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cells_outside_and_numbers_of_segments_near_the_end_of_64_bits(data: Any) -> None:
    some = st.sampled_from((-(2**63), -(2**31), -1, 0, 0, 1, 1, 2, 4, *HUGE))
    rows = np.array(data.draw(st.lists(st.tuples(some, some, some), max_size=2)), np.int64)
    guess = (rows.reshape(-1, 3), np.ones(len(rows), np.int64), np.array([2, 3, 4]))
    truth = (np.array([[0, 1, 0]]), np.array([1]), guess[2])
    assert_agrees("EditDistance", *guess, *truth, normalize=False, exact=False)
    assert_agrees("EditDistance", *truth, *guess, normalize=True, exact=False)
    ids = np.array(sorted(data.draw(st.tuples(some, some))), np.int64)
    rows_of, places = np.ones((3, 2), np.float32), np.array([0, data.draw(some)], np.int64)
    for kind in ("Sum", "Mean", "SqrtN"):
        op = f"SparseSegment{kind}"
        assert_agrees(op, rows_of, places, ids, exact=False)
        assert_agrees(f"{op}WithNumSegments", rows_of, places, ids, np.int64(data.draw(some)),
                      exact=False)  # fmt: skip
        rows_back = np.int32(data.draw(st.sampled_from((-(2**31), -1, 0, 3, 2**31 - 1))))
        assert_agrees(f"{op}Grad", rows_of, places, ids, rows_back, exact=False)


@pytest.mark.parametrize("last", [6, 2**31 - 1, 2**62, 2**63 - 1])
@pytest.mark.parametrize("kinds", [["ROW_SPLITS"], ["ROW_SPLITS", "ROW_SPLITS"]])
def test_row_splits_far_beyond_the_values(kinds: list[str], last: int) -> None:
    splits = [np.array([0, 2, last], np.int64)] * len(kinds)
    values, shape = np.ones(5, np.float32), np.array(-1, np.int64)
    attrs: dict[str, Any] = {"row_partition_types": kinds}
    assert_agrees("RaggedTensorToTensor", shape, values, np.float32(0), *splits, **attrs)
