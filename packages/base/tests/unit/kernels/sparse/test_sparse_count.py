"""Counts against dictionaries."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

NONE = np.zeros(0, np.int64)


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=4))
def test_the_three_forms_agree(rows: list[list[int]]) -> None:
    wanted = {(k, v): n for k, row in enumerate(rows) for v, n in Counter(row).items()}
    values = np.array(rows, np.int64)
    flat = values.reshape(-1)
    at = np.stack(np.unravel_index(np.arange(flat.size), values.shape), -1)
    for op, inputs in (
        ("Dense", [values]),
        ("Sparse", [at, flat, np.array(values.shape)]),
        ("Ragged", [np.arange(len(rows) + 1) * 3, flat]),
    ):
        places, counts, shape = run_op(f"{op}CountSparseOutput", *inputs, NONE, binary_output=False)
        assert dict(zip(map(tuple, places.tolist()), counts.tolist(), strict=True)) == wanted
        assert shape.tolist() == [len(rows), max(map(max, rows)) + 1]


def test_limits_weights_and_binary_output() -> None:
    x, weights = np.array([0, 5, 5]), np.float32([1, 2, 3])
    places, counts, shape = run_op("DenseCountSparseOutput", x, weights, binary_output=False)
    assert (places.tolist(), counts.tolist(), shape.tolist()) == ([[0], [5]], [1, 5], [6])
    binary = run_op("DenseCountSparseOutput", x, weights, binary_output=True, maxlength=3)
    assert [v.tolist() for v in binary] == [[[0]], [1], [3]]
    with pytest.raises(KernelError, match="values must not be negative\n  found: -2"):
        run_op("DenseCountSparseOutput", np.array([1, -2]), NONE, binary_output=False)
    assert infer_shapes("DenseCountSparseOutput", [(2, 3), (0,)], binary_output=True) == [
        (-1, 2),
        (-1,),
        (2,),
    ]
