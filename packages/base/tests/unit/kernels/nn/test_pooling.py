"""Pooling against plain loops over windows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

PAIR = st.tuples(st.integers(1, 3), st.integers(1, 3))


def windows(shape: tuple[int, ...], size: Any, strides: Any, padding: str) -> Any:
    """Output position and slices of the input, clipped to it."""
    counts, tops = [], []
    for n, w, s in zip(shape, size, strides, strict=True):
        count = -(-n // s) if padding == "SAME" else -(-(n - w + 1) // s)
        counts.append(count)
        short = max((count - 1) * s + w - n, 0)
        tops.append(short // 2 if padding == "SAME" else 0)
    for at in np.ndindex(*counts):
        starts = [i * s - t for i, s, t in zip(at, strides, tops, strict=True)]
        yield at, tuple(slice(max(b, 0), b + w) for b, w in zip(starts, size, strict=True))


@settings(max_examples=40, deadline=None)
@given(PAIR, PAIR, st.sampled_from(["SAME", "VALID"]), st.integers(0, 99))
def test_pools_equal_loops(size: Any, strides: Any, padding: str, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(2, 5, 6, 3))
    attrs: dict[str, Any] = {
        "ksize": [1, *size, 1], "strides": [1, *strides, 1], "padding": padding,
    }  # fmt: skip
    (mean,), (best,) = run_op("AvgPool", x, **attrs), run_op("MaxPool", x, **attrs)
    top, index = run_op("MaxPoolWithArgmax", x, **attrs)
    for (i, j), cut in windows((5, 6), size, strides, padding):
        part = x[(slice(None), *cut)]
        np.testing.assert_allclose(mean[:, i, j], part.mean((1, 2)))
        np.testing.assert_array_equal(best[:, i, j], part.max((1, 2)))
    np.testing.assert_array_equal(top, best)
    flat = x.reshape(2, -1)
    np.testing.assert_array_equal(
        np.take_along_axis(flat, index.reshape(2, -1), 1), best.reshape(2, -1)
    )
    assert infer_shapes("MaxPool", [x.shape], **attrs) == [best.shape]
    first = attrs | {"ksize": [1, 1, *size], "strides": [1, 1, *strides], "data_format": "NCHW"}
    for op, want in (("AvgPool", mean), ("MaxPool", best)):
        (out,) = run_op(op, x.transpose(0, 3, 1, 2), **first)
        np.testing.assert_array_equal(out.transpose(0, 2, 3, 1), want)


@pytest.mark.parametrize("op", ["MaxPoolGrad", "AvgPoolGrad"])
def test_gradients_keep_the_sum(op: str) -> None:
    """Windows that do not overlap and cover everything: every gradient arrives once."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2, 4, 6, 3))
    attrs: dict[str, Any] = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 3, 1], "padding": "VALID"}
    (y,) = run_op(op.removesuffix("Grad"), x, **attrs)
    dy = rng.normal(size=y.shape)
    inputs = (x, y, dy) if op == "MaxPoolGrad" else (np.int32(x.shape), dy)
    (dx,) = run_op(op, *inputs, **attrs)
    np.testing.assert_allclose(dx.sum((1, 2)), dy.sum((1, 2)))


def test_not_a_number_wins_a_maximum() -> None:
    x = np.zeros((1, 2, 2, 1), np.float32)
    x[0, 1, 0] = np.nan
    (out,) = run_op("MaxPool", x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID")
    assert np.isnan(out.item())


def test_partly_known_shapes() -> None:
    attrs = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    assert infer_shapes("AvgPool", [(-1, 5, -1, 3)], **attrs) == [(-1, 2, -1, 3)]
    assert infer_shapes("MaxPool", [None], **attrs) == [(-1, -1, -1, -1)]
    two = {"padding": "SAME"}
    known = [None, np.int32([1, 2, 2, 1]), np.int32([1, 2, 2, 1])]
    shapes: list[Any] = [(1, 5, 6, 3), (4,), (4,)]
    assert infer_shapes("MaxPoolV2", shapes, **two) == [(1, -1, -1, -1)]
    assert infer_shapes("MaxPoolV2", shapes, values=known, **two) == [(1, 3, 3, 3)]


def test_pooling_over_the_batch_is_refused() -> None:
    with pytest.raises(KernelError, match="batch or channel") as caught:
        run_op("AvgPool", np.ones((2, 2, 2, 1)), ksize=[2, 1, 1, 1], strides=[2, 1, 1, 1],
               padding="SAME")  # fmt: skip
    assert caught.value.status == "UNIMPLEMENTED"


def test_given_indices_are_followed_both_ways() -> None:
    x = np.arange(2 * 4 * 4 * 1.0).reshape(2, 4, 4, 1)
    attrs: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    top, at = run_op("MaxPoolWithArgmax", x, **attrs)
    np.testing.assert_array_equal(run_op("MaxPoolGradGradWithArgmax", x, x, at, **attrs)[0], top)
    (spread,) = run_op("MaxPoolGradWithArgmax", x, top, at, **attrs)
    np.testing.assert_array_equal(spread, np.where(np.isin(x, top), x, 0))


def test_an_argmax_outside_the_input_is_refused() -> None:
    x, dy = np.ones((1, 2, 2, 1)), np.ones((1, 1, 1, 1))
    attrs = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    with pytest.raises(KernelError, match="argmax must point into the input"):
        run_op("MaxPoolGradWithArgmax", x, dy, np.full((1, 1, 1, 1), 4), **attrs)
