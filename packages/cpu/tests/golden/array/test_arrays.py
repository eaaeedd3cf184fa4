"""Kernels that move elements, at sizes where they work in tiles and threads, against the reference.

Recorded answers are of small tensors: these are the loops that they do not reach.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from agreement import assert_agrees

from drystone_base.executor.testing import run_op

Array = np.ndarray[Any, Any]
DTYPES = ["uint8", "int16", "float32", "int64", "complex128"]


def numbers(shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.integers(-100, 100, shape).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(67, 35), (3, 70, 41), (5, 33, 2, 37), (40, 1, 3, 2, 50)])
def test_every_permutation_transposes(shape: tuple[int, ...], dtype: str) -> None:
    x = numbers(shape, dtype)
    for perm in itertools.permutations(range(len(shape))):
        assert_agrees("Transpose", x, np.array(perm, np.int32))


def test_a_large_transpose_is_shared_among_threads() -> None:
    assert_agrees("Transpose", numbers((1025, 771)), np.array([1, 0]))
    for dtype in ("float32", "uint8", "float64"):  # pictures: few rows become one
        for shape, perm in (((2, 3, 37, 41), (0, 2, 3, 1)), ((3, 2, 1500), (0, 2, 1)),
                            ((2, 9, 5), (2, 1, 0)), ((3, 9), (1, 0))):  # fmt: skip
            assert_agrees("Transpose", numbers(shape, dtype), np.array(perm))
    assert_agrees("Transpose", numbers((9, 300, 301)), np.array([0, 2, 1]))
    assert_agrees("ConjugateTranspose", numbers((300, 200), "complex64") * 1j, np.array([1, 0]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_regions_are_cut_out_and_written(dtype: str) -> None:
    x = numbers((64, 65, 66), dtype)
    begin, end = np.array([60, 2, -1]), np.array([3, 64, 0])
    steps = np.array([-3, 1, -2])
    assert_agrees("StridedSlice", x, begin, end, steps)
    assert_agrees("Slice", x, np.array([1, 2, 3]), np.array([60, -1, 5]))
    part = run_op("StridedSlice", x, begin, end, steps)[0]
    assert_agrees("StridedSliceGrad", np.array(x.shape), begin, end, steps, part)
    assert_agrees("TensorStridedSliceUpdate", x, begin, end, steps, part[:1])
    assert_agrees("ReverseV2", x, np.array([0, 2]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_are_joined_cut_and_padded(dtype: str) -> None:
    x, y = numbers((130, 70, 3), dtype), numbers((130, 50, 3), dtype, seed=1)
    assert_agrees("ConcatV2", x, y, np.array(1, np.int32), N=2)
    assert_agrees("Pack", x, x, axis=3)
    assert_agrees("Unpack", x, axis=1, num=70)
    assert_agrees("SplitV", x, np.array([7, -1, 20]), np.array(1, np.int32), num_split=3)
    pairs = np.array([[3, 0], [1, 2], [2, 1]])
    assert_agrees("Pad", x, pairs)
    assert_agrees("MirrorPad", x, pairs, mode="REFLECT")
    assert_agrees("MirrorPad", x, pairs, mode="SYMMETRIC")
    assert_agrees("Tile", x, np.array([2, 3, 4]))


def test_rows_are_gathered_and_scattered() -> None:
    rng = np.random.default_rng(0)
    table = numbers((4000, 5, 9))
    rows = rng.integers(0, 4000, (300, 7))
    assert_agrees("GatherV2", table, rows, np.array(0))
    assert_agrees("GatherV2", table, rows % 9, np.array(2))
    assert_agrees("GatherV2", table[:300], rows % 5, np.array(1), batch_dims=1)
    places = np.stack([rows.reshape(-1), rows.reshape(-1) % 5], -1)
    assert_agrees("GatherNd", table, places)
    updates = numbers((len(places), 9), seed=1)
    for op in ("Add", "Sub", "Min", "Max", "Update"):
        assert_agrees(f"TensorScatter{op}", table, places, updates)
    assert_agrees("ScatterNd", places, updates, np.array(table.shape))
    assert_agrees("UnsortedSegmentSum", table, rng.integers(-1, 50, 4000), np.array(60))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16", "uint8"])
def test_extremes_and_orders_with_ties_and_nan(dtype: str) -> None:
    x = (numbers((37, 1000), "int64") % 20).astype(dtype)
    if dtype.startswith("float"):
        x[::3, ::7] = np.nan
        x[5] = np.nan
        x[6, 3:] = -np.inf
    for op, axis in itertools.product(("ArgMax", "ArgMin"), (0, 1)):
        assert_agrees(op, x, np.array(axis, np.int32))
    for k in (1, 3, 400, 1000):
        assert_agrees("TopKV2", x, np.array(k, np.int32))
    assert_agrees("Where", x)
    for axis, exclusive, reverse in itertools.product((0, 1), (False, True), (False, True)):
        assert_agrees("Cumsum", x, np.array(axis, np.int32), exclusive=exclusive, reverse=reverse)


def test_distinct_elements_of_a_long_vector() -> None:
    x = numbers((20000,), "float32") / 7
    x[::50] = np.nan
    x[1::50] = -0.0
    for op in ("Unique", "UniqueWithCounts"):
        assert_agrees(op, x)
    assert_agrees("UniqueV2", numbers((40, 300, 2), "int8") % 2, np.array([1]))
    assert_agrees("ListDiff", x, x[:77])


@pytest.mark.parametrize("half_pixel_centers", [False, True])
def test_images_are_resized_in_threads(half_pixel_centers: bool) -> None:
    x = numbers((3, 61, 47, 5))
    for size in ((120, 33), (30, 99)):
        assert_agrees(
            "ResizeBilinear", x, np.array(size, np.int32), half_pixel_centers=half_pixel_centers
        )
        assert_agrees(
            "ResizeNearestNeighbor", x.astype("uint8"), np.array(size, np.int32),
            half_pixel_centers=half_pixel_centers,
        )  # fmt: skip


def test_blocks_move_between_space_depth_and_batch() -> None:
    x = numbers((4, 12, 18, 8), "float32")
    for layout in ("NHWC", "NCHW"):
        turned = x if layout == "NHWC" else x.transpose(0, 3, 1, 2).copy()
        assert_agrees("SpaceToDepth", turned, block_size=2, data_format=layout)
        assert_agrees("DepthToSpace", turned, block_size=2, data_format=layout)
    block, pads = np.array([3, 4]), np.array([[1, 2], [0, 2]])
    assert_agrees("SpaceToBatchND", x, block, pads)
    assert_agrees("BatchToSpaceND", np.tile(x, (3, 1, 1, 1)), block, pads)


@pytest.mark.parametrize("op", ["SpaceToDepth", "DepthToSpace"])
@pytest.mark.parametrize("block", [1 << 16, (1 << 31) - 2, 1 << 31, 1 << 32, 1 << 62])
def test_blocks_whose_square_is_no_number_are_refused(op: str, block: int) -> None:
    x = np.ones((1, 5, 5, 4), np.float32)
    assert_agrees(op, x, block_size=block, data_format="NHWC")


@pytest.mark.parametrize("dtype", ["float32", "string"])
def test_results_that_numpy_has_no_arrays_for_are_refused(dtype: str) -> None:
    """Tensors without elements may have any dimensions, and more of them than arrays."""
    value = np.array(b"a", object) if dtype == "string" else np.float32(1)
    assert_agrees("Fill", np.array([0, 1 << 62, 1]), value)
    assert_agrees("Fill", np.ones(65, np.int64), value)
