"""Cross entropies against each other and against differences."""

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op

RNG = np.random.default_rng(3)


def test_sparse_labels_are_one_hot_ones() -> None:
    x, at = RNG.normal(size=(6, 4)), RNG.integers(0, 4, 6)
    loss, gradient = run_op("SoftmaxCrossEntropyWithLogits", x, np.eye(4)[at])
    sparse = run_op("SparseSoftmaxCrossEntropyWithLogits", x, at)
    np.testing.assert_allclose(sparse[0], loss)
    np.testing.assert_allclose(sparse[1], gradient)


def test_gradient_is_the_slope() -> None:
    x, wanted = RNG.normal(size=(3, 4)), RNG.dirichlet(np.ones(4), 3)
    _, gradient = run_op("SoftmaxCrossEntropyWithLogits", x, wanted)
    for at in np.ndindex(3, 4):
        step = np.zeros_like(x)
        step[at] = 1e-6
        up, down = (
            run_op("SoftmaxCrossEntropyWithLogits", x + s, wanted)[0] for s in (step, -step)
        )
        assert np.isclose(gradient[at], (up - down)[at[0]] / 2e-6, atol=1e-6)


def test_top_k_counts_ties_as_in() -> None:
    x = np.float32([[0.1, 0.5, 0.5, 0.2]])
    for target, k, want in [(1, 1, True), (2, 1, True), (3, 2, False), (3, 3, True), (9, 4, False)]:
        assert run_op("InTopK", x, np.int32([target]), k=k)[0].tolist() == [want]


def test_a_label_that_is_no_class_is_refused() -> None:
    with pytest.raises(KernelError, match="labels must be valid classes"):
        run_op("SparseSoftmaxCrossEntropyWithLogits", np.ones((1, 3)), np.int32([3]))


def test_partly_known_shapes() -> None:
    dense = infer_shapes("SoftmaxCrossEntropyWithLogits", [(-1, 4), (6, -1)])
    assert dense == [(6,), (6, 4)]
    assert infer_shapes("SparseSoftmaxCrossEntropyWithLogits", [None, (6,)]) == [(6,), (6, -1)]
    assert infer_shapes("InTopK", [(-1, 4), (6,)], k=1) == [(6,)]
