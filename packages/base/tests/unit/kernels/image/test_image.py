"""Resizing, crops and colours: fixed points, linearity, round trips."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

MODE = st.sampled_from([(False, False), (True, False), (False, True)])
SIZE = st.integers(1, 9)


@settings(max_examples=40, deadline=None)
@given(SIZE, SIZE, SIZE, SIZE, MODE, st.sampled_from(["Bilinear", "Bicubic"]))
def test_gradients_are_the_adjoint(h: int, w: int, r: int, c: int, mode: Any, kind: str) -> None:
    rng = np.random.default_rng(h)
    x, dy = (rng.normal(size=s).astype(np.float32) for s in [(1, h, w, 2), (1, r, c, 2)])
    attrs = {"align_corners": mode[0], "half_pixel_centers": mode[1]}
    (y,) = run_op(f"Resize{kind}", x, np.int32([r, c]), **attrs)
    (dx,) = run_op(f"Resize{kind}Grad", dy, x, **attrs)
    left, right = (y.astype(float) * dy).sum(), (x.astype(float) * dx).sum()
    assert np.isclose(left, right, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("op", ["Bilinear", "Bicubic", "NearestNeighbor", "Area"])
def test_the_same_size_and_constants_stay(op: str) -> None:
    x = np.random.default_rng(0).normal(size=(2, 5, 7, 3)).astype(np.float32)
    np.testing.assert_allclose(run_op(f"Resize{op}", x, np.int32([5, 7]))[0], x, atol=1e-5)
    (flat,) = run_op(f"Resize{op}", np.full((1, 3, 4, 1), 2.5, np.float32), np.int32([6, 5]))
    np.testing.assert_allclose(flat, 2.5, atol=1e-5)


def test_area_of_whole_blocks_is_their_mean() -> None:
    x = np.arange(24, dtype=np.float32).reshape(1, 4, 6, 1)
    (out,) = run_op("ResizeArea", x, np.int32([2, 2]))
    np.testing.assert_allclose(out, x.reshape(1, 2, 2, 2, 3, 1).mean((2, 4)), atol=1e-5)


def test_a_crop_of_the_whole_is_the_image() -> None:
    x = np.random.default_rng(0).normal(size=(2, 5, 7, 3)).astype(np.float32)
    boxes = np.float32([[0, 0, 1, 1], [1, 1, 0, 0]])
    at = np.int32([1, 0])
    (out,) = run_op("CropAndResize", x, boxes, at, np.int32([5, 7]))
    np.testing.assert_allclose(out[0], x[1], atol=1e-4)
    np.testing.assert_allclose(out[1], x[0, ::-1, ::-1], atol=1e-4)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_a_box_that_is_not_finite_is_refused(odd: float) -> None:
    """As TensorFlow refuses it; the crop was zeros."""
    boxes = np.float32([[0, 0, 1, 1], [odd, 0, 1, 1]])
    image, at, size = np.ones((1, 5, 5, 1), np.float32), np.int32([0, 0]), np.int32([2, 2])
    with pytest.raises(KernelError, match="finite"):
        run_op("CropAndResize", image, boxes, at, size)


def test_patches_are_slices() -> None:
    x = np.arange(2 * 5 * 6 * 2).reshape(2, 5, 6, 2)
    (out,) = run_op("ExtractImagePatches", x, ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1],
                    rates=[1, 1, 1, 1], padding="VALID")  # fmt: skip
    assert out.shape == (2, 2, 4, 12)
    np.testing.assert_array_equal(out[1, 1, 2], x[1, 2:4, 2:5].reshape(-1))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 255), min_size=3, max_size=3))
def test_hsv_round_trip(color: list[int]) -> None:
    rgb = np.array([color]) / 255
    (hsv,) = run_op("RGBToHSV", rgb)
    assert (hsv >= 0).all()
    assert (hsv <= 1).all()
    np.testing.assert_allclose(run_op("HSVToRGB", hsv)[0], rgb, atol=1e-9)


def test_a_full_turn_of_hue_changes_nothing() -> None:
    x = np.random.default_rng(1).random((4, 5, 3)).astype(np.float32)
    np.testing.assert_allclose(run_op("AdjustHue", x, np.float32(1))[0], x, atol=1e-5)
    np.testing.assert_allclose(run_op("AdjustSaturation", x, np.float32(1))[0], x, atol=1e-5)
    (gray,) = run_op("AdjustSaturation", x, np.float32(0))
    np.testing.assert_allclose(gray, np.repeat(x.max(-1, keepdims=True), 3, -1), atol=1e-6)
    half = run_op("AdjustContrastv2", x.astype(np.float16), np.float32(0))[0]
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, np.broadcast_to(x.mean((0, 1)), x.shape), atol=1e-3)


def test_partly_known_shapes() -> None:
    size = [None, np.int32([4, 5])]
    assert infer_shapes("ResizeBilinear", [(-1, -1, -1, 3), (2,)], values=size) == [(-1, 4, 5, 3)]
    assert infer_shapes("ResizeBilinear", [None, (2,)]) == [(-1, -1, -1, -1)]
    boxes: list[Any] = [(2, -1, -1, 3), (-1, 4), (7,), (2,)]
    assert infer_shapes("CropAndResize", boxes) == [(7, -1, -1, 3)]
    assert infer_shapes("RGBToHSV", [(-1, 4, -1)]) == [(-1, 4, 3)]


def test_an_absurd_size_is_refused() -> None:
    with pytest.raises(KernelError, match="a tensor must fit") as caught:
        run_op("ResizeBilinear", np.ones((1, 1, 1, 9)), np.int32([2**29, 2**29]))
    assert caught.value.status == "RESOURCE_EXHAUSTED"


def _drawn(found: np.ndarray[Any, Any]) -> list[str]:
    """Which elements of one channel are NaN, infinite, 0 or other numbers."""

    def one(value: float) -> str:
        return "n" if np.isnan(value) else "i" if np.isinf(value) else "0" if value == 0 else "x"

    return ["".join(map(one, row)) for row in found[0, :, :, 0].tolist()]


@pytest.mark.parametrize(
    ("op", "half", "align", "want"),
    [  # as TensorFlow 2.21 has it
        ("ResizeBilinearGrad", False, False, ["00ii0", "00ii0", "00000"]),
        ("ResizeBilinearGrad", True, False, ["000ii", "000ii", "00000"]),
        ("ResizeBilinearGrad", False, True, ["0000n", "0000n", "00000"]),
        ("ResizeBicubicGrad", False, False, ["0nnnn", "0iiii", "0iiii"]),
        ("ResizeBicubicGrad", True, False, ["00nnn", "00iin", "00iin"]),
        ("ResizeBicubicGrad", False, True, ["000nn", "000nn", "000nn"]),
    ],
)
def test_an_infinite_gradient_times_a_share_of_0_is_nan(
    op: str, half: bool, align: bool, want: list[str]
) -> None:
    grads = np.zeros((1, 4, 2, 1), np.float32)
    grads[0, 1, 1] = np.inf
    image = np.zeros((1, 3, 5, 1), np.float32)
    found = run_op(op, grads, image, half_pixel_centers=half, align_corners=align)
    assert _drawn(found[0]) == want


@pytest.mark.parametrize(
    ("curve", "scale", "shift", "antialias", "want"),
    [  # as TensorFlow 2.21 has it: it reads as many outputs for each pixel
        ("lanczos3", (0.6, 0.8), (0, 0.5), True, ["iiiii"] * 6),
        ("triangle", (2, 2), (0, 0), True, ["ii0nn"] * 2 + ["00000"] + ["nn0nn"] * 3),
        ("box", (0.5, 0.6), (0, 0), False, ["00000"] * 2 + ["0000i"] * 2 + ["00000"] * 2),
        ("gaussian", (0.3, 3), (1, -2), True, ["iiinn"] * 6),
    ],
)
def test_an_infinite_gradient_goes_to_all_that_a_span_reads(
    curve: str, scale: Any, shift: Any, antialias: bool, want: list[str]
) -> None:
    grads = np.zeros((1, 4, 4, 1), np.float32)
    grads[0, 1, 2] = np.inf
    image = np.zeros((1, 6, 5, 1), np.float32)
    given = (grads, image, np.float32(scale), np.float32(shift))
    found = run_op("ScaleAndTranslateGrad", *given, kernel_type=curve, antialias=antialias)
    assert _drawn(found[0]) == want


@pytest.mark.parametrize("op", ["ResizeBilinearGrad", "ResizeBicubicGrad"])
@pytest.mark.parametrize("shapes", [((1, 0, 2, 1), (1, 3, 3, 1)), ((1, 2, 2, 1), (1, 3, 0, 1))])
def test_gradients_of_images_without_rows_or_columns_are_refused(op: str, shapes: Any) -> None:
    with pytest.raises(KernelError, match="rows and columns must be positive"):
        run_op(op, *(np.zeros(shape, np.float32) for shape in shapes))
