"""Batch normalization against NumPy in double."""

from __future__ import annotations

from typing import Any

import native_ops
import numpy as np
import pytest

SHAPES = [(2, 3, 5, 7), (40, 9, 11, 3), (3, 4, 4, 130), (1, 70, 70, 2), (2, 1, 1, 1)]


def _data(shape: tuple[int, ...]) -> tuple[np.random.Generator, Any, list[Any]]:
    rng = np.random.default_rng(sum(shape))
    x = (rng.standard_normal(shape) * 3 + 50).astype(np.float32)
    vectors = [(rng.random(shape[-1]) + 0.5).astype(np.float32) for _ in range(4)]
    return rng, x, vectors


def _run(op: str, layout: str, arrays: list[Any], **attrs: Any) -> list[Any]:
    first = layout == "NCHW"
    turned = [np.moveaxis(a, -1, 1) if first and a.ndim == 4 else a for a in arrays]
    found = native_ops.run_native(op, *turned, data_format=layout, epsilon=1e-3, **attrs)
    return [np.moveaxis(f, 1, -1) if first and f.ndim == 4 else f for f in found]


def _moments(x: Any) -> tuple[Any, Any]:
    rows = x.astype(np.float64).reshape(-1, x.shape[-1])
    return rows.mean(0), rows.var(0)


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_forward(shape: tuple[int, ...], layout: str) -> None:
    _, x, (scale, offset, mean, variance) = _data(shape)
    for training in (False, True):
        m, v = _moments(x) if training else (mean, variance)
        want = (x.astype(np.float64) - m) / np.sqrt(v + 1e-3) * scale + offset
        arrays = [x, scale, offset, mean, variance]
        found = _run("FusedBatchNormV3", layout, arrays, is_training=training)
        np.testing.assert_allclose(found[0], want, rtol=2e-4, atol=2e-4)
        np.testing.assert_allclose(found[3], m, rtol=1e-6)
        np.testing.assert_allclose(found[4], v, rtol=1e-5, atol=1e-6)
        side = x * 2
        ex = _run("_FusedBatchNormEx", layout, [*arrays, side], is_training=training,
                  num_side_inputs=1, activation_mode="Relu")  # fmt: skip
        np.testing.assert_allclose(ex[0], np.maximum(found[0] + side, 0), rtol=1e-6)


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradient(shape: tuple[int, ...], layout: str) -> None:
    rng, x, (scale, _, mean, variance) = _data(shape)
    dy = rng.standard_normal(shape).astype(np.float32)
    rows = (0, 1, 2)
    for training in (False, True):
        if training:
            mean, variance = (a.astype(np.float32) for a in _moments(x))
        inverse = 1 / np.sqrt(variance.astype(np.float64) + 1e-3)
        centered = x.astype(np.float64) - mean
        d_offset, d_scale = dy.sum(rows, np.float64), (dy * centered).sum(rows) * inverse
        count = x.size / shape[-1]
        pulled = dy - d_offset / count - centered * inverse * d_scale / count if training else dy
        arrays = [dy, x, scale, mean, variance, np.zeros((), np.float32)]
        found = _run("FusedBatchNormGradV3", layout, arrays, is_training=training)
        np.testing.assert_allclose(found[0], pulled * scale * inverse, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(found[1], d_scale, rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(found[2], d_offset, rtol=1e-4, atol=1e-4)


def test_moments_far_from_zero() -> None:
    x = np.full((4, 8, 8, 2), 1e4 + 0.1, np.float32)
    x[..., 1] += np.tile(np.array([1, -1], np.float32), 128).reshape(4, 8, 8)
    vectors = [np.ones(2, np.float32)] * 4
    for layout in ("NHWC", "NCHW"):
        found = _run("FusedBatchNormV3", layout, [x, *vectors], is_training=True)
        np.testing.assert_allclose(found[4], [0, 1], atol=1e-6)
        np.testing.assert_array_equal(found[3][0], x[0, 0, 0, 0])
