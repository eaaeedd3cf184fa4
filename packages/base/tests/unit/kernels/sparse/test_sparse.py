"""Sparse tensors against their dense forms."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

CELLS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=8)
SHAPE = np.array([4, 5], np.int64)


def _sparse(cells: set[tuple[int, int]], seed: int = 0) -> list[np.ndarray[Any, Any]]:
    rows = sorted(cells)
    values = np.random.default_rng(seed).integers(1, 9, len(rows)).astype(np.float64)
    return [np.array(rows, np.int64).reshape(len(rows), 2), values, SHAPE]


def _dense(indices: Any, values: Any, shape: Any) -> np.ndarray[Any, Any]:
    out = np.zeros(shape)
    out[tuple(indices.T)] = values
    return out


@settings(max_examples=40)
@given(CELLS)
def test_to_dense_reorder_and_reshape(cells: set[tuple[int, int]]) -> None:
    indices, values, shape = _sparse(cells)
    wanted = _dense(indices, values, shape)
    (dense,) = run_op("SparseToDense", indices, shape, values, np.float64(0))
    assert dense.tolist() == wanted.tolist()
    ordered, moved = run_op("SparseReorder", indices[::-1], values[::-1], shape)
    assert ordered.tolist() == indices.tolist()
    assert moved.tolist() == values.tolist()
    rows, dims = run_op("SparseReshape", indices, shape, np.array([2, -1], np.int64))
    assert _dense(rows, values, dims).tolist() == wanted.reshape(2, 10).tolist()


@settings(max_examples=40)
@given(CELLS)
def test_fill_empty_rows_gives_each_row_an_element(cells: set[tuple[int, int]]) -> None:
    indices, values, shape = _sparse(cells)
    rows, filled, empty, places = run_op(
        "SparseFillEmptyRows", indices, values, shape, np.float64(-1)
    )
    present = {row for row, _ in cells}
    assert empty.tolist() == [row not in present for row in range(4)]
    assert sorted(set(rows[:, 0].tolist())) == [0, 1, 2, 3]
    assert filled[places].tolist() == values.tolist()
    grad = np.arange(len(filled), dtype=np.float64)
    d_values, d_default = run_op("SparseFillEmptyRowsGrad", places, grad)
    assert d_values.tolist() == places.tolist()
    assert d_default == grad.sum() - d_values.sum()


@settings(max_examples=40)
@given(CELLS, st.integers(0, 1), st.integers(1, 4))
def test_split_slice_and_concat(cells: set[tuple[int, int]], axis: int, count: int) -> None:
    indices, values, shape = _sparse(cells)
    flat = run_op("SparseSplit", np.int64(axis), indices, values, shape, num_split=count)
    parts = list(zip(flat[:count], flat[count : 2 * count], flat[2 * count :], strict=True))
    begin = np.zeros(2, np.int64)
    for part in parts:
        cut = run_op("SparseSlice", indices, values, shape, begin, part[2])
        assert [c.tolist() for c in cut] == [p.tolist() for p in part]
        begin[axis] += part[2][axis]
    if count > 1:
        lists = [array for group in zip(*parts, strict=True) for array in group]
        back = run_op("SparseConcat", *lists, concat_dim=axis)
        assert [b.tolist() for b in back] == [indices.tolist(), values.tolist(), shape.tolist()]


def test_refusals() -> None:
    one = np.ones(2)
    twice = np.array([[1, 1], [1, 1]], np.int64)
    with pytest.raises(KernelError, match=r"indices\[1\] = \[1, 1\] after \[1, 1\]"):
        run_op("SparseToDense", twice, SHAPE, one, np.float64(0))
    with pytest.raises(KernelError, match=r"indices\[0\] = \[9, 0\]"):
        run_op("SparseReorder", np.array([[9, 0]]), np.ones(1), SHAPE)
    with pytest.raises(KernelError, match="one row for each value"):
        run_op("SparseReorder", twice, np.ones(3), SHAPE)


def test_inference() -> None:
    assert infer_shapes("SparseReshape", [(-1, 2), (2,), (3,)]) == [(-1, 3), (3,)]
    known = [None, None, np.array([7, 2]), None]
    shapes: list[Any] = [(-5, 2), (-5,), (2,), ()]
    assert infer_shapes("SparseFillEmptyRows", shapes, values=known) == [
        (-1, 2),
        (-1,),
        (7,),
        (-5,),
    ]
