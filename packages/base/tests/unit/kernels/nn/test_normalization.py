"""Batch normalization against its definition, and against differences for its gradients."""

from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

RNG = np.random.default_rng(0)


def batch(channels: int = 3) -> tuple[Any, ...]:
    x = RNG.normal(size=(2, 3, 4, channels)).astype(np.float32)
    scale, offset, mean = (RNG.normal(size=channels).astype(np.float32) for _ in range(3))
    return x, scale, offset, mean, np.abs(RNG.normal(size=channels)).astype(np.float32)


@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
def test_inference_follows_the_formula_and_passes_the_moments_on(op: str) -> None:
    x, scale, offset, mean, variance = batch()
    y, *rest = run_op(op, x, scale, offset, mean, variance, is_training=False, epsilon=0.01)
    want = (x.astype(float) - mean) / np.sqrt(variance + 0.01) * scale + offset
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)
    for moment, out in zip((mean, variance, mean, variance), rest, strict=False):
        np.testing.assert_array_equal(out, moment)


def test_training_normalizes_the_batch() -> None:
    x, _, _, mean, variance = batch()
    ones, zeros = np.ones(3, np.float32), np.zeros(3, np.float32)
    y, new_mean, new_variance, used_mean, used_variance, _ = run_op(
        "FusedBatchNormV3", x, ones, zeros, mean, variance, exponential_avg_factor=0.25, epsilon=0.0
    )
    np.testing.assert_allclose(y.mean((0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(y.std((0, 1, 2)), 1, atol=1e-5)
    np.testing.assert_allclose(used_mean, x.mean((0, 1, 2)), atol=1e-6)
    np.testing.assert_allclose(used_variance, x.var((0, 1, 2)), atol=1e-6)
    np.testing.assert_allclose(new_mean, 0.75 * mean + 0.25 * used_mean, atol=1e-6)
    unbiased = x.var((0, 1, 2), ddof=1)
    np.testing.assert_allclose(new_variance, 0.75 * variance + 0.25 * unbiased, atol=1e-6)


@pytest.mark.parametrize("training", [True, False])
def test_gradient_in_both_layouts(training: bool) -> None:
    """Against central differences of the forward op; channels first is the same turned."""
    x, scale, offset, mean, variance = batch()
    dy = RNG.normal(size=x.shape).astype(np.float32)

    def loss(at: Any) -> float:
        y = run_op("FusedBatchNormV3", at, scale, offset, mean, variance, is_training=training)[0]
        return float((y.astype(float) * dy).sum())

    outputs = run_op("FusedBatchNormV3", x, scale, offset, mean, variance, is_training=training)
    spaces = outputs[3:5]
    inputs = (dy, x, scale, *spaces, np.zeros(0, np.float32))
    dx, d_scale, d_offset, *_ = run_op("FusedBatchNormGradV3", *inputs, is_training=training)
    for at in [(0, 0, 0, 0), (1, 2, 3, 2), (0, 1, 2, 1)]:
        step = np.zeros_like(x)
        step[at] = 1e-2
        slope = (loss(x + step) - loss(x - step)) / 2e-2
        assert np.isclose(dx[at], slope, rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose(d_offset, dy.sum((0, 1, 2)), rtol=1e-4, atol=1e-5)
    turned = (dy.transpose(0, 3, 1, 2), x.transpose(0, 3, 1, 2), *inputs[2:])
    back = run_op("FusedBatchNormGradV3", *turned, is_training=training, data_format="NCHW")
    np.testing.assert_allclose(back[0].transpose(0, 2, 3, 1), dx, atol=1e-6)
    np.testing.assert_allclose(back[1], d_scale, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scaled", [True, False])
def test_global_normalization(scaled: bool) -> None:
    x, gamma, beta, mean, variance = batch()
    (out,) = run_op(
        "BatchNormWithGlobalNormalization", x, mean, variance, beta, gamma,
        variance_epsilon=0.1, scale_after_normalization=scaled,
    )  # fmt: skip
    want = (x - mean) / np.sqrt(variance + 0.1) * (gamma if scaled else 1) + beta
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5)


def test_partly_known_shapes() -> None:
    vectors: list[Any] = [(3,), (-1,), (-1,), (-1,)]
    shapes = infer_shapes("FusedBatchNormV3", [(-1, 4, -1, -1), *vectors])
    assert shapes == [(-1, 4, -1, 3), *[(3,)] * 4, None]
    first = infer_shapes("FusedBatchNorm", [None, *vectors], data_format="NCHW")
    assert first == [(-1, 3, -1, -1), *[(3,)] * 4]


def test_vectors_of_another_length_are_refused() -> None:
    x, scale, *rest = batch()
    with pytest.raises(KernelError, match="scale must have one entry per channel"):
        run_op("FusedBatchNormV3", x, scale[:2], *rest)
