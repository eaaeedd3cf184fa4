"""Blocks between space, depth and batch: each way undoes the other, cells land in place."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op


@settings(max_examples=40)
@given(
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(1, 2), st.integers(1, 3)),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_batch_to_space_undoes_space_to_batch(
    block: tuple[int, int], blocks: tuple[int, int], before: tuple[int, int]
) -> None:
    pads = [(b % (n * k), 0) for b, n, k in zip(before, block, blocks, strict=True)]
    dims = [n * k - p for n, k, (p, _) in zip(block, blocks, pads, strict=True)]
    x = np.arange(2 * dims[0] * dims[1] * 2).reshape(2, *dims, 2)
    shape, borders = np.array(block, np.int32), np.array(pads, np.int32)
    (batch,) = run_op("SpaceToBatchND", x, shape, borders)
    for cell, n in itertools.product(itertools.product(*map(range, block)), range(2)):
        number = (cell[0] * block[1] + cell[1]) * 2 + n
        padded = np.pad(x[n], [*pads, (0, 0)])
        assert batch[number].tolist() == padded[cell[0] :: block[0], cell[1] :: block[1]].tolist()
    (back,) = run_op("BatchToSpaceND", batch, shape, borders)
    assert back.tolist() == x.tolist()


@settings(max_examples=30)
@given(st.integers(2, 3), st.integers(1, 2), st.integers(1, 2), st.sampled_from(["NHWC", "NCHW"]))
def test_space_to_depth_and_back(size: int, rows: int, columns: int, layout: str) -> None:
    dims = (1, size * rows, size * columns, 2)
    x = np.arange(np.prod(dims)).reshape(dims)
    given_x = x if layout == "NHWC" else x.transpose(0, 3, 1, 2)
    (deep,) = run_op("SpaceToDepth", given_x, block_size=size, data_format=layout)
    last = deep if layout == "NHWC" else deep.transpose(0, 2, 3, 1)
    for i, j, k in itertools.product(range(size), range(size), range(2)):
        channel = (i * size + j) * 2 + k
        assert last[..., channel].tolist() == x[:, i::size, j::size, k].tolist()
    (back,) = run_op("DepthToSpace", deep, block_size=size, data_format=layout)
    assert back.tolist() == given_x.tolist()


def test_refusals_and_inference() -> None:
    with pytest.raises(KernelError, match="depth must be a multiple of block_size squared"):
        run_op("DepthToSpace", np.zeros((1, 2, 2, 6)), block_size=2)
    with pytest.raises(KernelError, match="found: NCHW_VECT_C"):
        run_op("DepthToSpace", np.zeros((1, 2, 2, 4)), block_size=2, data_format="NCHW_VECT_C")
    assert infer_shapes("DepthToSpace", [(-3, 2, -1, 8)], block_size=2) == [(-3, 4, -1, 2)]
    known = [None, np.array([2, 1]), np.array([[0, 0], [1, 1]])]
    assert infer_shapes("SpaceToBatchND", [(1, 4, -1), (2,), (2, 2)], values=known) == [(2, 2, -1)]
