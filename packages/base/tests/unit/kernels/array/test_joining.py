"""Joining and taking apart are inverse to each other."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op


@settings(max_examples=50)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=4), st.integers(0, 2))
def test_split_v_undoes_concat(sizes: list[int], axis: int) -> None:
    parts: list[Any] = []
    for k, n in enumerate(sizes):
        dims = [2, 2, 2]
        dims[axis] = n
        parts.append(np.full(dims, k))
    (joined,) = run_op("ConcatV2", *parts, np.int32(axis))
    back = run_op("SplitV", joined, np.array(sizes, np.int64), np.int32(axis), num_split=len(sizes))
    assert [b.tolist() for b in back] == [p.tolist() for p in parts]
    rows = [np.array(p.shape, np.int32) for p in parts]
    offsets = run_op("ConcatOffset", np.int32(axis), *rows)
    for part, at in zip(parts, offsets, strict=True):
        begin = at.astype(np.int64)
        (cut,) = run_op("Slice", joined, begin, np.array(part.shape, np.int64))
        assert cut.tolist() == part.tolist()


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(-3, 2))
def test_unpack_undoes_pack(count: int, axis: int) -> None:
    parts = [np.full((2, 3), k) for k in range(count)]
    (packed,) = run_op("Pack", *parts, axis=axis)
    assert packed.shape[axis] == count
    back = run_op("Unpack", packed, num=count, axis=axis)
    assert [b.tolist() for b in back] == [p.tolist() for p in parts]


def test_strings_join_and_come_out_as_arrays() -> None:
    (packed,) = run_op("Pack", "a", "bc")
    assert packed.tolist() == [b"a", b"bc"]
    first, second = run_op("Unpack", packed, num=2)
    assert first.dtype == second.dtype == object
    assert second.item() == b"bc"


def test_parallel_concat() -> None:
    rows = [np.full((1, 2), k) for k in range(3)]
    assert run_op("ParallelConcat", *rows, shape=(3, 2))[0].tolist() == [[0, 0], [1, 1], [2, 2]]
    with pytest.raises(KernelError, match=r"found: \[3, 2\]\n  needed: \[4, 2\]"):
        run_op("ParallelConcat", *rows, shape=(4, 2))


def test_refusals_name_the_input() -> None:
    with pytest.raises(KernelError, match=r"input 0 \[2\], input 1 \[3\]"):
        run_op("Pack", np.zeros(2), np.zeros(3))
    with pytest.raises(KernelError, match="found: 4\n  needed: a multiple of 3"):
        run_op("Split", np.int32(0), np.zeros(4), num_split=3)


def test_inference_with_unknown_dimensions() -> None:
    axis = [None, None, np.array(0)]
    assert infer_shapes("ConcatV2", [(-1, 3), (2, -1), ()], values=axis) == [(-1, 3)]
    assert infer_shapes("ConcatV2", [None, (2, 3), ()], values=[None] * 3) == [(-1, -1)]
    assert infer_shapes("Pack", [(-5, 3), (-1, 3)], axis=1) == [(-5, 2, 3)]
    with pytest.raises(ShapeError, match="dimensions must be equal"):
        infer_shapes("ConcatV2", [(1, 3), (2, 4), ()], values=axis)
    assert infer_shapes(
        "SplitV", [(10, 2), (3,), ()], values=[None, np.array([2, -1, 3]), np.array(0)], num_split=3
    ) == [(2, 2), (5, 2), (3, 2)]
