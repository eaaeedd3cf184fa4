"""Convolutions of nothing, and by filters of nothing: as by the kernels in NumPy."""

from typing import Any

import numpy as np
import pytest
from agreement import assert_agrees

IMAGES = ([2, 5, 4, 2], [0, 5, 4, 2], [2, 0, 4, 2], [2, 5, 4, 0])
FILTERS = ([2, 2, 2, 6], [0, 2, 2, 6], [0, 0, 2, 6], [2, 2, 2, 0])


def _ones(shape: list[int]) -> Any:
    return np.ones(shape, np.float32)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("image", IMAGES)
def test_empty_convolutions(image: list[int], filters: list[int], padding: str) -> None:
    pairs = zip(image[1:-1], filters[:-2], strict=True)
    spatial = [n if padding == "SAME" else max(n - k + 1, 0) for n, k in pairs]
    y = [image[0], *spatial, filters[-1]]
    attrs: dict[str, Any] = {"strides": [1] * 4, "padding": padding}
    assert_agrees("Conv2D", _ones(image), _ones(filters), **attrs)
    assert_agrees(
        "Conv2DBackpropFilter", _ones(image), np.array(filters, np.int32), _ones(y), **attrs
    )
    assert_agrees(
        "Conv2DBackpropInput", np.array(image, np.int32), _ones(filters), _ones(y), **attrs
    )
    deep: dict[str, Any] = {"strides": [1] * 5, "padding": padding}
    x, f, dy = _ones([image[0], 3, *image[1:]]), [1, *filters], _ones([y[0], 3, *y[1:]])
    assert_agrees("Conv3D", x, _ones(f), **deep)
    assert_agrees("Conv3DBackpropFilterV2", x, np.array(f, np.int32), dy, **deep)
    assert_agrees("Conv3DBackpropInputV2", np.int32(x.shape), _ones(f), dy, **deep)


@pytest.mark.parametrize("kernel", [(0, 2), (2, 0)])
def test_empty_depthwise_convolutions(kernel: tuple[int, int]) -> None:
    x, f = _ones([2, 5, 4, 3]), _ones([*kernel, 3, 2])
    y = _ones([2, 5, 4, 6])
    attrs: dict[str, Any] = {"strides": [1] * 4, "padding": "SAME"}
    op = "DepthwiseConv2dNative"
    assert_agrees(op, x, f, **attrs)
    assert_agrees(op + "BackpropInput", np.int32(x.shape), f, y, **attrs)
    assert_agrees(op + "BackpropFilter", x, np.int32(f.shape), y, **attrs)
