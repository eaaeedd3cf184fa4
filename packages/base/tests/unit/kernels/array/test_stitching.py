"""Dealing rows out and putting them together again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op


@settings(max_examples=50)
@given(st.lists(st.integers(0, 3), max_size=12))
def test_stitch_undoes_partition(numbers: list[int]) -> None:
    partitions = np.array(numbers, np.int32)
    data = np.arange(2 * len(numbers)).reshape(len(numbers), 2)
    places = np.arange(len(numbers), dtype=np.int32)
    parts = run_op("DynamicPartition", data, partitions, num_partitions=4)
    assert [p.shape[0] for p in parts] == [numbers.count(k) for k in range(4)]
    where = run_op("DynamicPartition", places, partitions, num_partitions=4)
    (back,) = run_op("DynamicStitch", *where, *parts)
    assert back.tolist() == data.tolist()


def test_the_last_writer_wins() -> None:
    out = run_op("DynamicStitch", np.int32([0, 1]), np.int32([1]), np.array([1, 2]), np.array([9]))
    assert out[0].tolist() == [1, 9]


def test_refusals() -> None:
    with pytest.raises(KernelError, match=r"partitions\[1\] = 5\n  needed: a value in \[0, 2\)"):
        run_op("DynamicPartition", np.zeros(2), np.int32([0, 5]), num_partitions=2)
    with pytest.raises(KernelError, match=r"indices\[0\] = -1"):
        run_op("DynamicStitch", np.int32([-1, 0]), np.zeros(2))


def test_inference() -> None:
    assert infer_shapes("DynamicPartition", [(-1, 3), (-1,)], num_partitions=2) == [(-1, 3)] * 2
    known = [np.array([0, 4]), None]
    assert infer_shapes("DynamicStitch", [(2,), (2, 3)], values=known) == [(5, 3)]
    assert infer_shapes("DynamicStitch", [(2,), (2, 3)]) == [(-1, 3)]
