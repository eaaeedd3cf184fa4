"""Transforms against the sum that defines them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(0, 99))
def test_fft_is_the_sum_and_its_inverse_undoes_it(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, n)) + 1j * rng.normal(size=(2, n))
    turns = np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
    (out,) = run_op("FFT", x)
    np.testing.assert_allclose(out, x @ turns, atol=1e-9)
    np.testing.assert_allclose(run_op("IFFT", out)[0], x, atol=1e-9)
    real = x.real
    (half,) = run_op("RFFT", real, np.int32([n]), Tcomplex="complex128")
    np.testing.assert_allclose(half, (real @ turns)[:, : n // 2 + 1], atol=1e-9)
    (back,) = run_op("IRFFT", half, np.int32([n]), Treal="float64")
    np.testing.assert_allclose(back, real, atol=1e-9)


@pytest.mark.parametrize("count", [2, 3])
def test_more_dimensions_are_one_after_the_other(count: int) -> None:
    rng = np.random.default_rng(count)
    x = (rng.normal(size=(2, 3, 4, 5)) + 0j).astype(np.complex64)
    want = x
    for axis in range(-count, 0):
        want = np.moveaxis(run_op("FFT", np.moveaxis(want, axis, -1))[0], -1, axis)
    (out,) = run_op(f"FFT{count}D", x)
    assert out.dtype == np.complex64
    np.testing.assert_allclose(out, want, atol=1e-4)


def test_batch_names_are_the_same_ops() -> None:
    x = np.arange(24).reshape(2, 3, 4).astype(np.complex64)
    for op in ("FFT", "IFFT2D", "FFT3D"):
        np.testing.assert_array_equal(run_op(f"Batch{op}", x)[0], run_op(op, x)[0])


def test_length_zero_is_empty() -> None:
    assert run_op("RFFT", np.ones((2, 4), "f4"), np.int32([0]))[0].shape == (2, 0)


def test_shapes() -> None:
    values: list[Any] = [None, np.int32([8, 9])]
    shapes: list[Any] = [(-1, 8, 9), (2,)]
    assert infer_shapes("RFFT2D", shapes, values=values) == [(-1, 8, 5)]
    assert infer_shapes("IRFFT2D", shapes, values=values) == [(-1, 8, 9)]
    assert infer_shapes("RFFT", [(-1, 8), (1,)]) == [(-1, -1)]


def test_a_length_beyond_the_input_is_refused() -> None:
    with pytest.raises(KernelError, match="input must reach the transform's length"):
        run_op("RFFT", np.ones((2, 4), "f4"), np.int32([8]))
