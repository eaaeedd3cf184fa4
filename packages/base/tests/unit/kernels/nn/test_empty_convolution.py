"""Filters, images and batches without elements: nothing is summed, as in TensorFlow."""

import math
from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

# Of images [batch, rows, columns, channels] and filters: which dimensions are 0.
IMAGES = ([2, 5, 4, 2], [0, 5, 4, 2], [2, 0, 4, 2], [2, 5, 4, 0])
FILTERS = ([2, 2, 2, 6], [0, 2, 2, 6], [2, 0, 2, 6], [0, 0, 2, 6], [2, 2, 2, 0])


def _output(image: list[int], filters: list[int], padding: str) -> list[int]:
    """A window of size k has n - k + 1 places, also where k is 0."""
    pairs = zip(image[1:-1], filters[:-2], strict=True)
    spatial = [n if padding == "SAME" else n - k + 1 for n, k in pairs]
    return [image[0], *spatial, filters[-1]]


def _ones(shape: list[int], kind: Any = np.float32) -> Any:
    return np.ones(shape, kind)


def _cases(volumes: bool) -> list[Any]:
    more = [3] if volumes else []
    out = []
    for image in IMAGES:
        for filters in FILTERS:
            for padding in ("SAME", "VALID"):
                x, f = [image[0], *more, *image[1:]], [*([1] * len(more)), *filters]
                y = _output(x, f, padding)
                empty = not all(x) or not all(f)
                if min(y) >= 0 and empty:
                    out.append((x, f, y, {"strides": [1] * len(x), "padding": padding}))
    return out


@pytest.mark.parametrize("volumes", [False, True], ids=["images", "volumes"])
def test_gradients_without_elements_are_zeros(volumes: bool) -> None:
    of_filter, of_input = (
        ("Conv3DBackpropFilterV2", "Conv3DBackpropInputV2")
        if volumes
        else ("Conv2DBackpropFilter", "Conv2DBackpropInput")
    )
    for x, f, y, attrs in _cases(volumes):
        if x[-1] or (not all(f) and not volumes):
            (grad,) = run_op(of_filter, _ones(x), np.int32(f), _ones(y), **attrs)
            assert (list(grad.shape), grad.any()) == (f, False), (x, f, attrs)
        else:
            with pytest.raises(KernelError, match="there must be channels"):
                run_op(of_filter, _ones(x), np.int32(f), _ones(y), **attrs)
        if not x[-1]:
            continue
        (grad,) = run_op(of_input, np.int32(x), _ones(f), _ones(y), **attrs)
        assert (list(grad.shape), grad.any()) == (x, False), (x, f, attrs)


@pytest.mark.parametrize("volumes", [False, True], ids=["images", "volumes"])
def test_filters_without_elements_are_taken_where_tensorflow_takes_them(volumes: bool) -> None:
    op = "Conv3D" if volumes else "Conv2D"
    for x, f, y, attrs in _cases(volumes):
        if not all(f) and (volumes or (all(x) and math.prod(y))):
            with pytest.raises(KernelError, match="the filter must have elements"):
                run_op(op, _ones(x), _ones(f), **attrs)
        elif volumes and not x[-1] and math.prod(y):
            with pytest.raises(KernelError, match="the input must have channels"):
                run_op(op, _ones(x), _ones(f), **attrs)
        else:
            (out,) = run_op(op, _ones(x), _ones(f), **attrs)
            assert (list(out.shape), out.any()) == (y, False), (x, f, attrs)
            assert infer_shapes(op, [tuple(x), tuple(f)], **attrs) == [tuple(y)]


@pytest.mark.parametrize("kernel", [(0, 2), (2, 0), (0, 0)])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("channels", [2, 64])
def test_depthwise_filters_without_elements(
    kernel: tuple[int, int], padding: str, channels: int
) -> None:
    x, f = [2, 5, 4, channels], [*kernel, channels, 1]
    y = [*_output(x, f, padding)[:-1], channels]
    attrs: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": padding}
    op = "DepthwiseConv2dNative"
    (out,) = run_op(op, _ones(x), _ones(f), **attrs)
    assert (list(out.shape), out.any()) == (y, False)
    (grad,) = run_op(op + "BackpropInput", np.int32(x), _ones(f), _ones(y), **attrs)
    assert (list(grad.shape), grad.any()) == (x, False)
    (grad,) = run_op(op + "BackpropFilter", _ones(x), np.int32(f), _ones(y), **attrs)
    assert list(grad.shape) == f


def test_pools_have_windows() -> None:
    with pytest.raises(KernelError, match="one positive entry per dimension"):
        run_op("MaxPool", _ones([1, 4, 4, 1]), ksize=[1, 0, 2, 1], strides=[1] * 4, padding="SAME")
