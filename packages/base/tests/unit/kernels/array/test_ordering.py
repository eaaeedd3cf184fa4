"""Sorting, searching and turning against plain Python."""

import bisect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op

ROW = st.lists(st.integers(-3, 3), min_size=1, max_size=9)


@settings(max_examples=50)
@given(ROW, st.data())
def test_top_k_is_a_stable_descending_sort(row: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(row)))
    for op, extra, attrs in (("TopKV2", (np.int32(k),), {}), ("TopK", (), {"k": k})):
        values, places = run_op(op, np.array([row], np.float32), *extra, **attrs)
        wanted = sorted(range(len(row)), key=lambda j: (-row[j], j))[:k]
        assert places.tolist() == [wanted]
        assert values.tolist() == [[row[j] for j in wanted]]


@settings(max_examples=40)
@given(ROW, st.data())
def test_nth_element_and_bounds(row: list[int], data: st.DataObject) -> None:
    n = data.draw(st.integers(0, len(row) - 1))
    x = np.array([row])
    assert run_op("NthElement", x, np.int32(n))[0].tolist() == [sorted(row)[n]]
    assert run_op("NthElement", x, np.int32(n), reverse=True)[0].tolist() == [
        sorted(row, reverse=True)[n]
    ]
    ordered = sorted(row)
    wanted = np.arange(-4, 5)[None]
    (low,) = run_op("LowerBound", np.array([ordered]), wanted)
    (high,) = run_op("UpperBound", np.array([ordered]), wanted)
    assert low[0].tolist() == [bisect.bisect_left(ordered, v) for v in range(-4, 5)]
    assert high[0].tolist() == [bisect.bisect_right(ordered, v) for v in range(-4, 5)]


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_bounds_of_nan_are_tensorflows(kind: str) -> None:
    """No element is below it, and it is below none."""
    rows: Any = np.array([[0, 1, 2, 3], [0, 1, 2, np.nan], [np.nan] * 4]).astype(kind)
    values: Any = np.array([[np.nan, 1, 5]] * 3).astype(kind)
    assert run_op("LowerBound", rows, values)[0].tolist() == [[0, 1, 4], [0, 1, 3], [0, 0, 0]]
    assert run_op("UpperBound", rows[:1], values[:1])[0].tolist() == [[4, 2, 4]]


@settings(max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=3, max_size=3))
def test_reverse_sequence(lengths: list[int]) -> None:
    x = np.arange(12).reshape(3, 4)
    wanted = [row[:n][::-1] + row[n:] for row, n in zip(x.tolist(), lengths, strict=True)]
    (out,) = run_op("ReverseSequence", x, np.array(lengths), seq_dim=1, batch_dim=0)
    assert out.tolist() == wanted
    (turned,) = run_op("ReverseSequence", x.T, np.array(lengths), seq_dim=0, batch_dim=1)
    assert turned.T.tolist() == wanted


@settings(max_examples=40)
@given(st.integers(-9, 9), st.integers(-9, 9))
def test_roll_moves_each_element(down: int, right: int) -> None:
    x = np.arange(6).reshape(2, 3)
    (out,) = run_op("Roll", x, np.int32([down, right]), np.int32([0, 1]))
    for a in range(2):
        for b in range(3):
            assert out[(a + down) % 2, (b + right) % 3] == x[a, b]


def test_where_gives_int64_rows() -> None:
    (out,) = run_op("Where", np.array([[0, 2], [3, 0]]))
    assert out.dtype == np.int64
    assert out.tolist() == [[0, 1], [1, 0]]


def test_refusals_and_inference() -> None:
    with pytest.raises(KernelError, match=r"found: k 4, shape \[3\]"):
        run_op("TopKV2", np.zeros(3), np.int32(4))
    with pytest.raises(KernelError, match=r"axes must not repeat\n  found: \[0, 0\]"):
        run_op("ReverseV2", np.zeros(3), np.int32([0, -1]))
    with pytest.raises(ShapeError, match="at least k elements"):
        infer_shapes("TopKV2", [(2, 3), ()], values=[None, np.array(4)])
    assert infer_shapes("TopKV2", [(-2, 3), ()], values=[None, np.array(2)]) == [(-2, 2)] * 2
    assert infer_shapes("Where", [(2, -1)]) == [(-1, 2)]
