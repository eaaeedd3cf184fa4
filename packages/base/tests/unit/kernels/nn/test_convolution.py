"""Convolutions against plain loops, gradients against their definition, layouts agree."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.kernels.nn import convolution

Array = np.ndarray[Any, Any]


def naive(
    x: Array, f: Array, strides: tuple[int, int], rates: tuple[int, int], pads: list[Any]
) -> Array:
    """Cross-correlation by loops; ``pads`` as for ``np.pad``."""
    padded = np.pad(x, [(0, 0), *pads, (0, 0)])
    reach = [(f.shape[k] - 1) * rates[k] + 1 for k in (0, 1)]
    out = [(padded.shape[1 + k] - reach[k]) // strides[k] + 1 for k in (0, 1)]
    groups = x.shape[3] // f.shape[2]
    each = f.shape[3] // groups
    y = np.zeros((x.shape[0], *out, f.shape[3]))
    for i, j, a, b, d in np.ndindex(*out, *f.shape[:2], f.shape[3]):
        part = padded[:, i * strides[0] + a * rates[0], j * strides[1] + b * rates[1]]
        first = d // each * f.shape[2]
        y[:, i, j, d] += part[:, first : first + f.shape[2]] @ f[a, b, :, d]
    return y


PAIR = st.tuples(st.integers(1, 3), st.integers(1, 3))
EDGE = st.tuples(st.integers(0, 2), st.integers(0, 2))


@settings(max_examples=40, deadline=None)
@given(PAIR, PAIR, PAIR, EDGE, EDGE, st.sampled_from([1, 2]), st.integers(0, 99))
def test_conv2d_equals_loops(
    size: tuple[int, int], strides: tuple[int, int], rates: tuple[int, int],
    rows: tuple[int, int], columns: tuple[int, int], groups: int, seed: int,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    x, f = rng.normal(size=(2, 7, 8, 4)), rng.normal(size=(*size, 4 // groups, 2 * groups))
    attrs: dict[str, Any] = {
        "strides": [1, *strides, 1], "dilations": [1, *rates, 1], "padding": "EXPLICIT",
        "explicit_paddings": [0, 0, *rows, *columns, 0, 0],
    }  # fmt: skip
    want = naive(x, f, strides, rates, [rows, columns])
    (out,) = run_op("Conv2D", x, f, **attrs)
    np.testing.assert_allclose(out, want, atol=1e-12)
    assert infer_shapes("Conv2D", [x.shape, f.shape], **attrs) == [want.shape]
    first = run_op("Conv2D", x.transpose(0, 3, 1, 2), f, **_channels_first(attrs))[0]
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), want, atol=1e-12)


def _channels_first(attrs: dict[str, Any]) -> dict[str, Any]:
    pads = attrs.get("explicit_paddings", [])
    return attrs | {
        "data_format": "NCHW",
        "strides": [1, 1, *attrs["strides"][1:3]],
        "dilations": [1, 1, *attrs["dilations"][1:3]],
        "explicit_paddings": [0, 0, 0, 0, *pads[2:6]] if pads else [],
    }


@pytest.mark.parametrize(
    ("stride", "padding", "rate", "groups"),
    list(itertools.product([1, 2], ["SAME", "VALID"], [1, 2], [1, 2])),
)
def test_gradients_are_the_adjoint(stride: int, padding: str, rate: int, groups: int) -> None:
    """<conv(x, f), dy> = <x, dx> = <f, df>, which holds for bilinear maps; in both layouts."""
    rng = np.random.default_rng(stride)
    x, f = rng.normal(size=(2, 7, 6, 4)), rng.normal(size=(3, 2, 4 // groups, 6))
    attrs: dict[str, Any] = {
        "strides": [1, stride, stride, 1], "padding": padding, "dilations": [1, rate, rate, 1],
    }  # fmt: skip
    (y,) = run_op("Conv2D", x, f, **attrs)
    dy = rng.normal(size=y.shape)
    inner = float((y * dy).sum())
    (dx,) = run_op("Conv2DBackpropInput", np.int32(x.shape), f, dy, **attrs)
    (df,) = run_op("Conv2DBackpropFilter", x, np.int32(f.shape), dy, **attrs)
    assert np.isclose((x * dx).sum(), inner)
    assert np.isclose((f * df).sum(), inner)
    np.testing.assert_array_equal(run_op("Conv2DBackpropInputV2", x, f, dy, **attrs)[0], dx)
    np.testing.assert_array_equal(run_op("Conv2DBackpropFilterV2", x, f, dy, **attrs)[0], df)
    turned = x.transpose(0, 3, 1, 2), dy.transpose(0, 3, 1, 2)
    first = _channels_first(attrs)
    back = run_op("Conv2DBackpropInput", np.int32(turned[0].shape), f, turned[1], **first)[0]
    np.testing.assert_allclose(back.transpose(0, 2, 3, 1), dx)


def test_blocks_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, f = rng.normal(size=(3, 9, 8, 4)), rng.normal(size=(3, 3, 4, 5))
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    (whole,) = run_op("Conv2D", x, f, **attrs)
    for limit in (1, 5_000, 60_000):
        monkeypatch.setattr(convolution, "_COLUMN_BYTES", limit)
        np.testing.assert_allclose(run_op("Conv2D", x, f, **attrs)[0], whole, atol=1e-12)


@pytest.mark.parametrize("layout", ["NDHWC", "NCDHW"])
def test_volumes_of_one_layer_are_images(layout: str) -> None:
    rng = np.random.default_rng(2)
    x, f = rng.normal(size=(2, 5, 6, 3)), rng.normal(size=(2, 3, 3, 4))
    (want,) = run_op("Conv2D", x, f, strides=[1, 2, 1, 1], padding="SAME")
    last = layout == "NDHWC"
    volume = x[:, None] if last else x.transpose(0, 3, 1, 2)[:, :, None]
    strides = [1, 1, 2, 1, 1] if last else [1, 1, 1, 2, 1]
    (out,) = run_op("Conv3D", volume, f[None], strides=strides, padding="SAME", data_format=layout)
    back = out[:, 0] if last else out[:, :, 0].transpose(0, 2, 3, 1)
    np.testing.assert_allclose(back, want, atol=1e-12)


@pytest.mark.parametrize(
    ("dims", "filters", "padding", "want"),
    [
        ((-1, -1, 7, 3), (3, 3, 3, 8), "SAME", (-1, -1, 4, 8)),
        ((-1, 9, 9, -1), (3, 3, 3, 8), "VALID", (-1, 4, 4, 8)),
        (None, (3, 3, 3, 8), "SAME", (-1, -1, -1, 8)),
        ((2, 9, 9, 3), None, "SAME", (2, 5, 5, -1)),
        ((2, 9, 9, 3), None, "VALID", (2, -1, -1, -1)),
    ],
)
def test_partly_known_shapes(dims: Any, filters: Any, padding: str, want: Any) -> None:
    attrs = {"strides": [1, 2, 2, 1], "padding": padding}
    assert infer_shapes("Conv2D", [dims, filters], **attrs) == [want]


def test_stride_one_keeps_symbols() -> None:
    attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    assert infer_shapes("Conv2D", [(-2, -3, -4, 3), (3, 3, 3, 8)], **attrs) == [(-2, -3, -4, 8)]


def test_a_window_that_does_not_fit_is_refused() -> None:
    attrs = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    with pytest.raises(KernelError, match="computed output size would be negative"):
        run_op("Conv2D", np.ones((1, 2, 2, 1)), np.ones((5, 5, 1, 1)), **attrs)
    with pytest.raises(ShapeError, match="computed output size would be negative"):
        infer_shapes("Conv2D", [(1, 2, 2, 1), (5, 5, 1, 1)], **attrs)


def test_older_volume_gradients_take_tensors_for_shapes() -> None:
    rng = np.random.default_rng(6)
    x, f = rng.normal(size=(1, 3, 4, 5, 2)), rng.normal(size=(2, 2, 3, 2, 3))
    attrs: dict[str, Any] = {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}
    dy = rng.normal(size=run_op("Conv3D", x, f, **attrs)[0].shape)
    pairs = {
        "Conv3DBackpropInput": run_op("Conv3DBackpropInputV2", np.int32(x.shape), f, dy, **attrs),
        "Conv3DBackpropFilter": run_op("Conv3DBackpropFilterV2", x, np.int32(f.shape), dy, **attrs),
    }
    for op, want in pairs.items():
        np.testing.assert_array_equal(run_op(op, x, f, dy, **attrs)[0], want[0])
        assert infer_shapes(op, [x.shape, f.shape, dy.shape], **attrs) == [want[0].shape]
