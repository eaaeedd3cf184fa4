"""Non-maximum suppression against the textbook loop."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op


def overlap(a: Any, b: Any) -> float:
    sides = [max(min(a[k + 2], b[k + 2]) - max(a[k], b[k]), 0) for k in (0, 1)]
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    shared = sides[0] * sides[1]
    return float(shared / (sum(areas) - shared)) if min(areas) > 0 else 0.0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 12), st.integers(0, 6), st.sampled_from([0.0, 0.3, 0.7]), st.integers(0, 99))
def test_greedy_choice(boxes: int, most: int, limit: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    corner = rng.random((boxes, 2))
    where = np.concatenate([corner, corner + rng.random((boxes, 2))], 1).astype(np.float32)
    scores = rng.random(boxes).astype(np.float32)
    want: list[int] = []
    for k in np.argsort(-scores, kind="stable").tolist():
        if len(want) < most and all(overlap(where[k], where[j]) <= limit for j in want):
            want.append(k)
    settings_ = (np.int32(most), np.float32(limit))
    (out,) = run_op("NonMaxSuppressionV2", where, scores, *settings_)
    assert out.dtype == np.int32
    assert out.tolist() == want
    padded, valid = run_op("NonMaxSuppressionV4", where, scores, *settings_, np.float32(-1),
                           pad_to_max_output_size=True)  # fmt: skip
    assert padded.tolist() == want + [0] * (most - len(want))
    assert valid.item() == len(want)


def test_soft_scores_fall_with_overlap() -> None:
    boxes = np.float32([[0, 0, 1, 1], [0, 0, 1, 0.5], [5, 5, 6, 6]])
    scores = np.float32([0.9, 0.8, 0.3])
    limits = (np.int32(3), np.float32(0.5), np.float32(0), np.float32(0.5))
    chosen, kept, valid = run_op("NonMaxSuppressionV5", boxes, scores, *limits)
    assert valid.item() == 3
    assert chosen.tolist() == [0, 1, 2]
    np.testing.assert_allclose(kept, [0.9, 0.8 * np.exp(-0.25), 0.3], rtol=1e-6)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sigma", [0.0, 0.5])
def test_a_box_that_is_not_finite_comes_to_an_end(odd: float, sigma: float) -> None:
    """The overlap with it is no number: soft suppression lowered its score without end."""
    boxes = np.float32([[0, 0, 1, 1], [odd, 4, 5, 5], [0, 0, 1, odd]])
    scores = np.float32([1, 0.9, 0.8])
    limits = (np.int32(4), np.float32(0.5), np.float32(-np.inf), np.float32(sigma))
    chosen, kept, valid = run_op("NonMaxSuppressionV5", boxes, scores, *limits)
    assert chosen[0] == 0
    assert kept[0] == 1
    assert valid.item() == len(chosen) <= 3


def test_soft_suppression_of_nan_is_tensorflows() -> None:
    boxes, scores = np.float32([[0, 0, 1, 1], [np.nan, 4, 5, 5]]), np.float32([1, 0.9])
    limits = (np.int32(4), np.float32(0.5), np.float32(-np.inf), np.float32(0.5))
    chosen, kept, valid = run_op("NonMaxSuppressionV5", boxes, scores, *limits)
    assert (chosen.tolist(), kept.tolist(), valid.item()) == ([0], [1.0], 1)


def test_a_threshold_above_one_is_refused() -> None:
    with pytest.raises(KernelError, match="iou_threshold lie in"):
        run_op("NonMaxSuppressionV2", np.ones((1, 4), "f4"), np.ones(1, "f4"), np.int32(1),
               np.float32(1.5))  # fmt: skip


def test_shapes() -> None:
    shapes: list[Any] = [(-1, 4), (9,), (), (), ()]
    values = [None, None, np.array(5), None, None]
    padded = {"pad_to_max_output_size": True}
    assert infer_shapes("NonMaxSuppressionV3", shapes) == [(-1,)]
    assert infer_shapes("NonMaxSuppressionV4", shapes, values=values, **padded) == [(5,), ()]
