"""Dual coordinate ascent learns, and shrinks weights in place."""

import numpy as np
import pytest
from stateful import Bench, f32

from drystone_base.core.dtypes import FLOAT32
from drystone_base.executor.testing import run_op
from drystone_base.kernels._city import fingerprint128
from drystone_base.state.variables import Variable

RNG = np.random.default_rng(1)


def _fit(loss: str, x: np.ndarray, y: np.ndarray, rounds: int, *, adaptive: bool) -> np.ndarray:
    """The weights after some passes over the examples."""
    weights, state = np.zeros(x.shape[1], np.float32), np.zeros((len(x), 4), np.float32)
    for _ in range(rounds):
        state, delta = run_op(
            "SdcaOptimizerV2", x, np.ones(len(x), np.float32), y, weights, state,
            loss_type=loss, l1=0.0, l2=0.01, num_sparse_features=0, num_dense_features=1,
            num_sparse_features_with_values=0, num_loss_partitions=1, num_inner_iterations=1,
            adaptive=adaptive,
        )  # fmt: skip
        weights = weights + delta
    return weights


@pytest.mark.parametrize("adaptive", [False, True])
def test_squares_are_fitted(adaptive: bool) -> None:
    x = RNG.normal(size=(60, 3)).astype(np.float32)
    want = np.array([1.5, -2.0, 0.25])
    got = _fit("squared_loss", x, (x @ want).astype(np.float32), 40, adaptive=adaptive)
    np.testing.assert_allclose(got, want, atol=0.01)


@pytest.mark.parametrize("loss", ["logistic_loss", "hinge_loss", "smooth_hinge_loss"])
def test_classes_are_separated(loss: str) -> None:
    x = RNG.normal(size=(80, 2)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(np.float32)
    got = _fit(loss, x, y, 20, adaptive=False)
    assert (((x @ got) > 0) == (y > 0)).mean() > 0.95


def test_counts_are_fitted() -> None:
    x = np.concatenate([RNG.normal(size=(80, 2)) / 2, np.ones((80, 1))], axis=1).astype(np.float32)
    want = np.array([0.8, -0.5, 1.0])
    got = _fit("poisson_loss", x, np.exp(x @ want).astype(np.float32), 60, adaptive=False)
    np.testing.assert_allclose(got, want, atol=0.05)


def test_weights_shrink_in_place() -> None:
    first, second = (Variable(n, FLOAT32, (3,)) for n in "ab")
    first.write(f32([1, -0.1, -2]))
    second.write(f32([0.2, 0.25, 5]))
    Bench().all("SdcaShrinkL1", first, second, num_features=2, l1=0.5, l2=2.0)
    np.testing.assert_allclose(first.read(), [0.75, 0, -1.75])
    np.testing.assert_allclose(second.read(), [0, 0, 4.75])


def test_unknown_features_are_refused() -> None:
    one, names = np.ones(1, np.float32), np.array([3], np.int64)
    attrs = {
        "loss_type": "squared_loss", "l1": 0.0, "l2": 1.0, "num_sparse_features": 1,
        "num_dense_features": 0, "num_sparse_features_with_values": 0, "num_loss_partitions": 1,
        "num_inner_iterations": 1,
    }  # fmt: skip
    state, example = np.zeros((1, 4), np.float32), np.zeros(1, np.int64)
    Bench().fails("INVALID_ARGUMENT", "must have a weight", "SdcaOptimizerV2",
                  example, names, one, one, names + 1, one, state, **attrs)  # fmt: skip
    twice = np.zeros(2, np.int64)
    Bench().fails("INVALID_ARGUMENT", "a feature twice", "SdcaOptimizerV2", twice, twice + 3, one,
                  one, names, one, state, **attrs)  # fmt: skip


def test_fingerprint_of_nothing_is_the_published_one() -> None:
    assert fingerprint128(b"") == (0x3DF09DFC64C09A2B, 0x3CB540C392E51E29)
