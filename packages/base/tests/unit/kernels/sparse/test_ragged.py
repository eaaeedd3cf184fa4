"""Ragged tensors against nested lists."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

ROWS = st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=5)


def _ragged(rows: list[list[int]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    splits = np.cumsum([0, *map(len, rows)])
    return splits, np.array([v for row in rows for v in row], np.int64)


@settings(max_examples=40)
@given(ROWS, st.data())
def test_gather_picks_rows(rows: list[list[int]], data: st.DataObject) -> None:
    picked = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5))
    splits, values = run_op(
        "RaggedGather",
        *_ragged(rows),
        np.array(picked, np.int64),
        PARAMS_RAGGED_RANK=1,
        OUTPUT_RAGGED_RANK=1,
    )
    parts = [values[a:b].tolist() for a, b in itertools.pairwise(splits)]
    assert parts == [rows[k] for k in picked]


@settings(max_examples=40)
@given(ROWS, st.integers(-1, 6), st.integers(-1, 5))
def test_to_tensor_cuts_and_fills(rows: list[list[int]], height: int, width: int) -> None:
    splits, values = _ragged(rows)
    numbers = np.repeat(np.arange(len(rows)), np.diff(splits))
    h = len(rows) if height < 0 else height
    w = max(map(len, rows)) if width < 0 else width
    wanted = [([*row, *[-1] * w])[:w] for row in rows][:h] + [[-1] * w] * (h - len(rows))
    for kinds, parts in (
        (["ROW_SPLITS"], [splits]),
        (["FIRST_DIM_SIZE", "VALUE_ROWIDS"], [np.array(len(rows)), numbers]),
    ):
        (out,) = run_op(
            "RaggedTensorToTensor",
            np.array([height, width]),
            values,
            np.int64(-1),
            *parts,
            row_partition_types=kinds,
        )
        assert out.tolist() == wanted


@settings(max_examples=40)
@given(ROWS)
def test_to_sparse(rows: list[list[int]]) -> None:
    places, values, shape = run_op("RaggedTensorToSparse", *_ragged(rows))
    assert places.tolist() == [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    assert values.tolist() == [v for row in rows for v in row]
    assert shape.tolist() == [len(rows), max(map(len, rows))]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.sampled_from([1, 2, -3]))))
def test_range_is_pythons(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, np.int64).reshape(len(rows), 3).T
    splits, values = run_op("RaggedRange", *columns)
    parts = [values[a:b].tolist() for a, b in itertools.pairwise(splits)]
    assert parts == [list(range(*row)) for row in rows]


def test_refusals_and_inference() -> None:
    with pytest.raises(KernelError, match="deltas must not be 0"):
        run_op("RaggedRange", np.int64(0), np.int64(1), np.int64(0))
    with pytest.raises(KernelError, match=r"rise from 0 .*\n  found: \[0, 9\]\n  needed: 0 ... 2"):
        run_op("RaggedTensorToSparse", np.array([0, 9]), np.zeros(2))
    assert infer_shapes("RaggedRange", [(4,), (), ()]) == [(5,), (-1,)]
    assert infer_shapes(
        "RaggedTensorToTensor", [(), (-1, 3), (), (5,)], row_partition_types=["ROW_SPLITS"]
    ) == [(-1, -1, 3)]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_differences_that_wrap_around_are_refused(dtype: Any) -> None:
    """Once they passed for lengths, whose sum was right: NumPy wrote beyond its array."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    splits = np.array([0, high, low, -1, 3], dtype)
    values, none = np.array([1, 2, 3], np.int32), np.zeros(0, np.float32)
    whole: dict[str, Any] = {"row_partition_types": ["ROW_SPLITS"]}
    ids: dict[str, Any] = {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]}
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("RaggedBincount", (splits.astype(np.int64), values, np.int32(4), none), {}),
        ("RaggedTensorToSparse", (splits, values), {}),
        ("RaggedTensorToTensor", (np.array([-1, -1]), values, np.int32(0), splits), whole),
        (
            "RaggedTensorToTensor",
            (np.array([-1, -1]), values, np.int32(0), dtype(4), splits[:3]),
            ids,
        ),
        ("SegmentSum", (values, splits[:3]), {}),
    ]
    for op, inputs, attrs in calls:
        with pytest.raises(KernelError, match=r"must rise|must not decrease"):
            run_op(op, *inputs, **attrs)
