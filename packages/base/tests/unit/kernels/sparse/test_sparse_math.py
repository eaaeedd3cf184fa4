"""Sparse arithmetic against the same on dense tensors."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

CELLS = st.sets(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=8)


def _sparse(cells: set[tuple[int, int]], seed: int) -> list[np.ndarray[Any, Any]]:
    rows = sorted(cells)
    values = np.random.default_rng(seed).integers(1, 9, len(rows)).astype(np.float64)
    return [np.array(rows, np.int64).reshape(len(rows), 2), values, np.array([3, 4], np.int64)]


def _dense(indices: Any, values: Any, shape: Any) -> np.ndarray[Any, Any]:
    out = np.zeros(shape)
    for place, value in zip(indices.tolist(), values.tolist(), strict=True):
        out[tuple(place)] = value
    return out


@settings(max_examples=40)
@given(CELLS, CELLS)
def test_sums_products_and_extremes(a: set[tuple[int, int]], b: set[tuple[int, int]]) -> None:
    x, y = _sparse(a, 1), _sparse(b, 2)
    left, right = _dense(*x), _dense(*y)
    assert _dense(*run_op("SparseAdd", *x, *y, np.float64(0))).tolist() == (left + right).tolist()
    rows, values = run_op("SparseSparseMinimum", *x, *y)
    assert _dense(rows, values, [3, 4]).tolist() == np.minimum(left, right).tolist()
    assert run_op("SparseTensorDenseAdd", *x, right)[0].tolist() == (left + right).tolist()
    assert run_op("SparseTensorDenseMatMul", *x, right.T)[0].tolist() == (left @ right.T).tolist()
    assert (
        run_op("SparseTensorDenseMatMul", *x, right, adjoint_a=True)[0].tolist()
        == (left.T @ right).tolist()
    )
    (scaled,) = run_op("SparseDenseCwiseMul", *x, right[0])
    assert _dense(x[0], scaled, [3, 4]).tolist() == (left * right[0]).tolist()


@settings(max_examples=40)
@given(CELLS, st.sampled_from([[0], [1], [0, 1], [-1]]), st.booleans())
def test_reductions(cells: set[tuple[int, int]], axes: list[int], keep: bool) -> None:
    x = _sparse(cells, 3)
    at = np.array(axes, np.int32)
    whole = _dense(*x)
    total = whole.sum(axis=tuple(axes), keepdims=keep)
    (out,) = run_op("SparseReduceSum", *x, at, keep_dims=keep)
    assert out.tolist() == total.tolist()
    assert _dense(*run_op("SparseReduceSumSparse", *x, at, keep_dims=keep)).tolist() == out.tolist()
    (top,) = run_op("SparseReduceMax", *x, at, keep_dims=keep)
    assert top.tolist() == whole.max(axis=tuple(axes), keepdims=keep).tolist()


@settings(max_examples=30)
@given(CELLS)
def test_softmax_sums_to_one_in_each_row(cells: set[tuple[int, int]]) -> None:
    x = _sparse(cells, 4)
    (out,) = run_op("SparseSoftmax", *x)
    for row in {r for r, _ in cells}:
        here = x[0][:, 0] == row
        powers = np.exp(x[1][here])
        assert np.allclose(out[here], powers / powers.sum())


def test_gradient_of_a_sum() -> None:
    a, b = np.array([[0], [2]]), np.array([[1], [2]])
    total = np.array([[0], [1]])
    left, right = run_op("SparseAddGrad", np.array([5.0, 7.0]), a, b, total)
    assert left.tolist() == [5, 0]
    assert right.tolist() == [7, 0]


def test_refusals_and_inference() -> None:
    x = _sparse({(0, 0)}, 5)
    with pytest.raises(KernelError, match="found: 4 and 3\n  needed: equal dimensions"):
        run_op("SparseTensorDenseMatMul", *x, np.ones((3, 2)))
    with pytest.raises(KernelError, match="must broadcast to the sparse one"):
        run_op("SparseDenseCwiseMul", *x, np.ones(3))
    known = [None, None, np.array([3, 4]), None]
    shapes: list[Any] = [(-1, 2), (-1,), (2,), (4, -2)]
    assert infer_shapes("SparseTensorDenseMatMul", shapes, values=known) == [(3, -2)]


@pytest.mark.parametrize(
    "op",
    ["SparseReduceSum", "SparseReduceSumSparse", "SparseReduceMax", "SparseReduceMaxSparse"],
)
def test_reductions_of_more_elements_than_64_bits_count_are_refused(op: str) -> None:
    shape = np.array([2, 2**63 - 1, 2], np.int64)
    with pytest.raises(KernelError, match="the number of elements must fit 64 bits"):
        run_op(op, np.zeros((1, 3), np.int64), np.ones(1), shape, np.array([1], np.int32))
