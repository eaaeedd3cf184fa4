"""Boxes, glimpses, transforms, random parts, gradients: against plain formulas and TensorFlow."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError, UnsupportedOp
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.files.access import Access
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

Array = np.ndarray[Any, Any]
SIZE = np.array([40, 50, 3], np.int32)
BOX = np.array([[[0.1, 0.2, 0.6, 0.9]]], np.float32)


def _session() -> Runtime:
    def refuse(*_: Any) -> list[Array]:
        raise UnsupportedOp("no functions here")

    return Runtime(ResourceManager(), refuse, access=Access.anywhere())


def test_random_crops_follow_tensorflows_stream() -> None:
    image = np.arange(20 * 30 * 2, dtype=np.float32).reshape(20, 30, 2)
    for size, first in (((7, 9), [138, 100, 372]), ((20, 9), [18, 40, 12]),
                        ((7, 30), [660, 240, 240]), ((20, 30), [0, 0, 0])):  # fmt: skip
        runtime, wanted = _session(), np.array(size, np.int64)
        parts = [run_op("RandomCrop", image, wanted, seed=4, seed2=9, runtime=runtime)[0]
                 for _ in range(3)]  # fmt: skip
        assert [int(part[0, 0, 0]) for part in parts] == first
        assert {part.shape for part in parts} == {(*size, 2)}
    with pytest.raises(KernelError, match="the image must be as large as the part") as caught:
        run_op("RandomCrop", image, np.array([21, 3], np.int64))
    assert caught.value.status == "FAILED_PRECONDITION"


def test_sampled_boxes_follow_tensorflows_stream() -> None:
    runtime = _session()
    drawn = [run_op("SampleDistortedBoundingBox", SIZE, BOX, seed=4, seed2=9, runtime=runtime)
             for _ in range(4)]  # fmt: skip
    assert [begin.tolist() for begin, _, _ in drawn] == [
        [8, 26, 0],
        [2, 11, 0],
        [7, 6, 0],
        [5, 2, 0],
    ]
    assert [size.tolist()[:2] for _, size, _ in drawn] == [[11, 14], [35, 37], [32, 36], [31, 29]]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 2**31), st.floats(0, 1, width=32))
def test_sampled_boxes_lie_in_the_image_and_show_enough(
    height: int, width: int, seed: int, least: float
) -> None:
    begin, size, box = run_op(
        "StatelessSampleDistortedBoundingBox",
        np.array([height, width, 3]), BOX, np.float32(least), np.array([seed, 1]),
    )  # fmt: skip
    (y, x, _), (rows, columns, rest) = begin.tolist(), size.tolist()
    assert rest == -1
    assert 0 <= y <= y + rows <= height
    assert 0 <= x <= x + columns <= width
    ends = np.array([y / height, x / width, (y + rows) / height, (x + columns) / width])
    assert np.allclose(box[0, 0], ends, atol=1e-6)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.float64])
def test_the_contrast_of_old_graphs(kind: type[np.generic]) -> None:
    images = np.random.default_rng(1).integers(0, 100, (2, 3, 4, 2)).astype(kind)
    bounds = np.float32(1.7), np.float32(5), np.float32(90)
    (found,) = run_op("AdjustContrast", images, *bounds)
    mean = images.mean((1, 2), keepdims=True)
    assert found.dtype == np.float32
    assert np.allclose(found, np.clip((images - mean) * 1.7 + mean, 5, 90), atol=1e-4)


@pytest.mark.parametrize("scaled", [True, False])
def test_the_gradient_of_the_old_norm(scaled: bool) -> None:
    rng = np.random.default_rng(2)
    t, grad = rng.normal(size=(2, 2, 3, 4, 5))
    m, v, beta, gamma = rng.uniform(0.5, 2, (4, 5))
    attrs = {"variance_epsilon": 0.1, "scale_after_normalization": scaled}

    def loss(*inputs: Array) -> float:
        (out,) = run_op("BatchNormWithGlobalNormalization", *inputs, **attrs)
        return float((out * grad).sum())

    found = run_op("BatchNormWithGlobalNormalizationGrad", t, m, v, gamma, grad, **attrs)
    for at, gradient in zip((0, 1, 2, 3, 4), found, strict=True):
        direction = rng.normal(size=gradient.shape)
        ends = []
        for step in (1e-6, -1e-6):
            inputs = [t, m, v, beta, gamma]
            inputs[at] = inputs[at] + step * direction
            ends.append(loss(*inputs))
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx((gradient * direction).sum(), rel=1e-5)


def test_glimpses_outside_the_image_are_noise_of_its_kind() -> None:
    image = np.random.default_rng(3).uniform(5, 6, (1, 6, 6, 2)).astype(np.float32)
    size, offset = np.array([4, 4], np.int32), np.array([[1, 1]], np.float32)
    for noise, uniform in (("uniform", True), ("gaussian", False), ("", True), ("", False)):
        (found,) = run_op("ExtractGlimpse", image, size, offset, noise=noise, uniform_noise=uniform)
        assert found.shape == (1, 4, 4, 2)
        assert image.min() <= found.min() <= found.max() <= image.max()
        assert np.array_equal(found[:, :2, :2], image[:, 4:, 4:])
    with pytest.raises(KernelError, match="uniform_noise and another noise"):
        run_op("ExtractGlimpse", image, size, offset, noise="zero")


def test_fused_convolutions_are_their_parts_for_any_batch() -> None:
    rng = np.random.default_rng(4)
    x, filters = rng.normal(size=(3, 6, 5, 2)), rng.normal(size=(2, 3, 2, 4))
    paddings, size = np.array([[0, 0], [1, 2], [2, 1], [0, 0]]), np.array([7, 9], np.int32)
    conv = {"strides": [1, 3, 1, 1], "padding": "SAME"}
    for mode in ("REFLECT", "SYMMETRIC"):
        (padded,) = run_op("MirrorPad", x, paddings, mode=mode)
        (plain,) = run_op("Conv2D", padded, filters, **conv)
        (fused,) = run_op("FusedPadConv2D", x, paddings, filters, mode=mode, **conv)
        assert np.array_equal(fused, plain)
        (resized,) = run_op("ResizeBilinear", x, size)
        (padded,) = run_op("MirrorPad", resized.astype(np.float64), paddings, mode=mode)
        (plain,) = run_op("Conv2D", padded, filters, **conv)
        (fused,) = run_op("FusedResizeAndPadConv2D", x, size, paddings, filters, mode=mode, **conv)
        assert np.array_equal(fused, plain)


def test_fractional_windows_are_drawn_anew_unless_fixed() -> None:
    x = np.random.default_rng(5).normal(size=(1, 40, 40, 1)).astype(np.float32)
    for op in ("FractionalMaxPool", "FractionalAvgPool"):
        for fixed in (True, False):
            runtime = _session()
            runs = [run_op(op, x, pooling_ratio=[1.0, 1.4, 1.4, 1.0], deterministic=fixed,
                           runtime=runtime) for _ in range(3)]  # fmt: skip
            kinds = {tuple(rows.tolist()) for _, rows, _ in runs}
            assert len(kinds) == (1 if fixed else 3)
            assert all(set(np.diff(rows).tolist()) == {1, 2} for _, rows, _ in runs)
    with pytest.raises(KernelError, match="seeds must be 0 unless deterministic"):
        run_op("FractionalMaxPool", x, pooling_ratio=[1.0, 1.4, 1.4, 1.0], seed=3)


def test_unknown_modes_are_refused() -> None:
    image, size = np.zeros((1, 2, 2, 1), np.float32), np.array([2, 2], np.int32)
    matrix = np.array([[1, 0, 0, 0, 1, 0, 0, 0]], np.float32)
    with pytest.raises(KernelError, match=r"interpolation must be known\n  found: CUBIC"):
        run_op("ImageProjectiveTransformV2", image, matrix, size, interpolation="CUBIC")
    with pytest.raises(KernelError, match=r"fill_mode must be known\n  found: ODD"):
        run_op("ImageProjectiveTransformV2", image, matrix, size, interpolation="NEAREST",
               fill_mode="ODD")  # fmt: skip


def test_inferred_shapes() -> None:
    pooled = infer_shapes("FractionalMaxPool", [(2, 7, -1, 3)], pooling_ratio=[1.0, 1.5, 2.0, 1.0])
    assert pooled == [(2, 4, -1, 3), (5,), (-1,)]
    paddings = np.array([[0, 0], [1, 2], [2, 1], [0, 0]])
    shapes: list[Any] = [(2, 6, 5, 2), (4, 2), (3, 2, 2, 4)]
    fused = infer_shapes("FusedPadConv2D", shapes, values=[None, paddings, None], mode="REFLECT",
                         strides=[1, 1, 1, 1], padding="VALID")  # fmt: skip
    assert fused == [(2, 7, 7, 4)]
    norm: list[Any] = [(1, 2, 3, -1), (4,), None, None, None]
    grads = infer_shapes("BatchNormWithGlobalNormalizationGrad", norm, variance_epsilon=0.1,
                         scale_after_normalization=True)  # fmt: skip
    assert grads == [(1, 2, 3, 4), (4,), (4,), (4,), (4,)]
    crop = infer_shapes("RandomCrop", [(9, 9, 3), (2,)], values=[None, np.array([4, 5])])
    assert crop == [(4, 5, 3)]
    assert infer_shapes("DrawBoundingBoxes", [None, (2, 3, 4)]) == [None]
