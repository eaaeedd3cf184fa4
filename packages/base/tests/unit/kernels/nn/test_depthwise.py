"""Depthwise convolution is a grouped convolution with as many groups as channels."""

import itertools
from typing import Any

import numpy as np
import pytest

from drystone_base.executor.testing import infer_shapes, run_op


@pytest.mark.parametrize(
    ("stride", "padding", "rate", "times"),
    list(itertools.product([1, 2], ["SAME", "VALID"], [1, 2], [1, 3])),
)
def test_equals_a_grouped_convolution(stride: int, padding: str, rate: int, times: int) -> None:
    rng = np.random.default_rng(times)
    x, f = rng.normal(size=(2, 7, 6, 4)), rng.normal(size=(3, 2, 4, times))
    attrs: dict[str, Any] = {
        "strides": [1, stride, stride, 1], "padding": padding, "dilations": [1, rate, rate, 1],
    }  # fmt: skip
    grouped = f.reshape(3, 2, 1, 4 * times)
    (want,) = run_op("Conv2D", x, grouped, **attrs)
    (out,) = run_op("DepthwiseConv2dNative", x, f, **attrs)
    np.testing.assert_allclose(out, want, atol=1e-12)
    assert infer_shapes("DepthwiseConv2dNative", [x.shape, f.shape], **attrs) == [want.shape]
    dy = rng.normal(size=want.shape)
    sizes = np.int32(x.shape)
    (dx,) = run_op("DepthwiseConv2dNativeBackpropInput", sizes, f, dy, **attrs)
    want_dx = run_op("Conv2DBackpropInput", sizes, grouped, dy, **attrs)[0]
    np.testing.assert_allclose(dx, want_dx, atol=1e-12)
    (df,) = run_op("DepthwiseConv2dNativeBackpropFilter", x, np.int32(f.shape), dy, **attrs)
    want_df = run_op("Conv2DBackpropFilter", x, np.int32(grouped.shape), dy, **attrs)[0]
    np.testing.assert_allclose(df.reshape(grouped.shape), want_df, atol=1e-12)


def test_channels_first_is_the_same_turned() -> None:
    rng = np.random.default_rng(5)
    x, f = rng.normal(size=(2, 7, 6, 4)), rng.normal(size=(3, 2, 4, 2))
    (want,) = run_op("DepthwiseConv2dNative", x, f, strides=[1, 2, 2, 1], padding="SAME")
    (out,) = run_op(
        "DepthwiseConv2dNative", x.transpose(0, 3, 1, 2), f,
        strides=[1, 1, 2, 2], padding="SAME", data_format="NCHW",
    )  # fmt: skip
    np.testing.assert_allclose(out.transpose(0, 2, 3, 1), want)


def test_partly_known_shapes() -> None:
    attrs = {"strides": [1, 2, 2, 1], "padding": "SAME"}
    op = "DepthwiseConv2dNative"
    assert infer_shapes(op, [(-1, 7, -1, 3), (3, 3, 3, 2)], **attrs) == [(-1, 4, -1, 6)]
    assert infer_shapes(op, [(-1, 7, 7, -1), (3, 3, -1, 2)], **attrs) == [(-1, 4, 4, -1)]
    assert infer_shapes(op, [None, (3, 3, 5, 1)], **attrs) == [(-1, -1, -1, 5)]
