"""Sparse shapes of more elements than 64 bits hold: refused as by the kernels in NumPy."""

import numpy as np
import pytest
from agreement import assert_agrees


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
