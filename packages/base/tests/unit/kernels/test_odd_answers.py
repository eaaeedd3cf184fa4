"""What TensorFlow 2.21 answers to odd hyper-parameters, scales, slices and sparse shapes."""

from typing import Any

import numpy as np
import pytest

from drystone_base import KernelError
from drystone_base.executor.testing import run_op

_F = np.float32


def _gather(sizes: list[int]) -> Any:
    """Of a matrix [5, 4], rows of which the first dimension is dropped."""
    numbers = b"\x08\x01\x10\x00\x18\x00\x20\x01"
    return run_op(
        "XlaGather", np.ones((5, 4), _F), np.zeros((3, 1), np.int32), np.array(sizes, np.int32),
        dimension_numbers=numbers, indices_are_sorted=False,
    )[0]  # fmt: skip


def test_slices_of_no_elements_in_a_dropped_dimension_are_zeros() -> None:
    assert _gather([1, 4]).tolist() == np.ones((3, 4)).tolist()
    assert _gather([0, 4]).tolist() == np.zeros((3, 4)).tolist()
    assert _gather([0, 0]).shape == (3, 0)


@pytest.mark.parametrize("scale", [np.nan, -1, 0, 1e-45])
def test_scales_of_no_positive_normal_number(scale: float) -> None:
    x, zero = np.array([3], np.int8), np.int32(1)
    with pytest.raises(KernelError, match="scales must be positive"):
        run_op(
            "UniformDequantize", x, _F(scale), zero, Tin="qint8", Tout="float32",
            quantization_min_val=-128, quantization_max_val=127,
        )  # fmt: skip
    wide = np.array([-9, 3, 9], np.int32)
    (clipped,) = run_op(
        "UniformQuantizedClipByValue", wide, np.int32(-2), np.int32(4), _F(scale), zero, T="qint32",
        quantization_min_val=-(2**31), quantization_max_val=2**31 - 1,
    )  # fmt: skip
    assert clipped.tolist() == [-2, 3, 4], "its scales are not looked at"


def test_infinities_of_two_taps_on_one_pixel_meet() -> None:
    image = np.array([np.inf, 1, 2, 3], _F).reshape(1, 1, 4, 1)
    (found,) = run_op("ResizeBicubic", image, np.array([1, 8], np.int32))
    assert np.isnan(found[0, 0, :4, 0]).all(), "weights of both signs"
    assert np.isfinite(found[0, 0, 6:, 0]).all()


_HUGE = np.array([2**62, 4], np.int64)
_ROWS, _VALUES = np.zeros((1, 2), np.int64), np.ones(1, _F)


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("SparseSplit", (np.int64(1), _ROWS, _VALUES, _HUGE), {"num_split": 2}),
        ("SparseConcat", (_ROWS, _ROWS, _VALUES, _VALUES, _HUGE, _HUGE), {"concat_dim": 1, "N": 2}),
        ("SparseSoftmax", (_ROWS, _VALUES, _HUGE), {}),
        ("SparseReshape", (_ROWS, _HUGE, np.array([-1], np.int64)), {}),
    ],
)
def test_sparse_shapes_of_more_elements_than_64_bits_hold(
    op: str, inputs: tuple[Any, ...], attrs: dict[str, Any]
) -> None:
    with pytest.raises(KernelError, match="64 bits"):
        run_op(op, *inputs, **attrs)


def test_sparse_rows_may_be_wider_than_64_bits_hold_elements() -> None:
    """As in TensorFlow, which looks at the number of rows alone."""
    ones, none = np.ones(1, np.int64), np.zeros(0, _F)
    shape = np.array([3, 2**63 - 1], np.int64)
    indices, counts, _ = run_op(
        "SparseCountSparseOutput", _ROWS, ones, shape, none, binary_output=False
    )
    assert (indices.tolist(), counts.tolist()) == ([[0, 1]], [1])
    with pytest.raises(KernelError, match="32 bits must hold the number of rows"):
        run_op("SparseCountSparseOutput", _ROWS, ones, shape[::-1], none, binary_output=False)


def test_sparse_dimensions_that_join_beyond_64_bits() -> None:
    wide = np.array([2**62, 0], np.int64)
    rows, values = np.zeros((0, 2), np.int64), np.zeros(0, _F)
    with pytest.raises(KernelError, match="64 bits must hold the joined dimension"):
        run_op("SparseConcat", rows, rows, values, values, wide, wide, concat_dim=0, N=2)
