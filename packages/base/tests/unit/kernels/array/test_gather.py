"""Gathers against loops; wrong indices are named; shapes through resources."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core import dtypes
from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

X = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)


@settings(max_examples=40)
@given(st.integers(0, 3), st.data())
def test_gather_along_an_axis_in_batches(axis: int, data: st.DataObject) -> None:
    batch = data.draw(st.integers(0, axis))
    extra = data.draw(st.lists(st.integers(0, 2), max_size=2))
    dims = (*X.shape[:batch], *extra)
    indices = np.array(
        data.draw(
            st.lists(
                st.integers(0, X.shape[axis] - 1),
                min_size=int(np.prod(dims)),
                max_size=int(np.prod(dims)),
            )
        ),
        np.int32,
    ).reshape(dims)
    (out,) = run_op("GatherV2", X, indices, np.int32(axis), batch_dims=batch)
    assert out.shape == (*X.shape[:axis], *extra, *X.shape[axis + 1 :])
    for place in itertools.product(*map(range, out.shape)):
        lead, inner = place[:axis], place[axis + len(extra) :]
        at = place[:batch] + place[axis : axis + len(extra)]
        assert out[place] == X[(*lead, indices[at], *inner)]


@settings(max_examples=30)
@given(st.integers(0, 4), st.data())
def test_gather_nd_reads_slices(depth: int, data: st.DataObject) -> None:
    row = st.tuples(*(st.integers(0, d - 1) for d in X.shape[:depth]))
    rows = data.draw(st.lists(row, max_size=4))
    indices = np.array(rows, np.int64).reshape(len(rows), depth)
    (out,) = run_op("GatherNd", X, indices)
    assert out.tolist() == [X[r].tolist() for r in rows]


def test_wrong_indices_are_named() -> None:
    with pytest.raises(KernelError, match=r"indices\[1\] = 7\n  needed: a value in \[0, 4\)"):
        run_op("GatherV2", np.zeros(4), np.array([0, 7], np.int32), np.int32(0))
    with pytest.raises(KernelError, match=r"indices\[0\] = \[1, -1\]"):
        run_op("GatherNd", np.zeros((2, 2)), np.array([[1, -1]], np.int32))


def test_scalars_of_strings_stay_arrays() -> None:
    words = np.array([b"a", b"b"], object)
    for out in (
        *run_op("GatherV2", words, np.int32(1), np.int32(0)),
        *run_op("GatherNd", words, np.array([1], np.int32)),
    ):
        assert out.dtype == object
        assert out.item() == b"b"


def test_inference() -> None:
    kinds = [dtypes.FLOAT32, dtypes.INT32, dtypes.INT32]
    shapes = [(-2, 5, 6), (-2, -1), ()]
    axis = [None, None, np.array(1)]
    assert infer_shapes("GatherV2", shapes, values=axis, dtypes_in=kinds) == [(-2, -2, -1, 6)]
    assert infer_shapes("GatherV2", shapes, values=axis, dtypes_in=kinds, batch_dims=1) == [
        (-2, -1, 6)
    ]
    assert infer_shapes("GatherV2", shapes, dtypes_in=kinds) == [(-1, -1, -1, -1)]
    assert infer_shapes("GatherNd", [(4, 5, 6), (-1, 2)]) == [(-1, 6)]
    assert infer_shapes("ResourceGather", [(), (3,)], dtype="float32") == [None]
