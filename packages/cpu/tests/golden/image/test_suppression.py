"""Non-maximum suppression against the reference: ties, overlaps at the limit, what is no box."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import assert_agrees

Array = np.ndarray[Any, Any]
ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e38, -1e38, 1e-30], np.float32)


def boxes_of(rng: np.random.Generator, count: int, odd: float) -> Array:
    """Corners in any order on a grid, where overlaps are often equal; some are odd or no box."""
    boxes = rng.integers(0, 24, (count, 4)).astype(np.float32) / np.float32(8)
    boxes[:, 2:] = boxes[:, :2] + rng.integers(-6, 13, (count, 2)).astype(np.float32) / 8
    places = rng.random(boxes.shape) < odd
    boxes[places] = rng.choice(ODD, int(places.sum()))
    return boxes


def scores_of(rng: np.random.Generator, count: int, odd: float) -> Array:
    """Many equal ones."""
    scores = (rng.integers(-20, 100, count) / 64).astype(np.float32)
    places = rng.random(count) < odd
    scores[places] = rng.choice(ODD, int(places.sum()))
    return scores


def limits_of(most: int, overlap: float, score: float, kind: str = "float32") -> list[Array]:
    return [np.array(most, np.int32), np.array(overlap, kind), np.array(score, kind)]


@pytest.mark.parametrize("odd", [0.0, 0.05])
@pytest.mark.parametrize("count", [0, 5, 40, 160])
def test_the_best_boxes_are_the_reference_s(count: int, odd: float) -> None:
    rng = np.random.default_rng(count)
    boxes, scores = boxes_of(rng, count, odd), scores_of(rng, count, odd)
    for most, overlap, score in (
        (30, 0.5, 0.1),
        (160, 0.25, -np.inf),
        (0, 1.0, 0.0),
        (9, 0.0, -0.25),
    ):
        limits = limits_of(most, overlap, score)
        assert_agrees("NonMaxSuppressionV3", boxes, scores, *limits)
        assert_agrees("NonMaxSuppressionV4", boxes, scores, *limits, pad_to_max_output_size=True)
    for sigma in (0.0, 0.5):
        limits = [*limits_of(20, 0.5, 0.1), np.array(sigma, np.float32)]
        assert_agrees("NonMaxSuppressionV5", boxes, scores, *limits)
    assert_agrees("NonMaxSuppression", boxes, scores, limits[0], iou_threshold=0.5)


@pytest.mark.parametrize("limit", [1 / 3, 0.2, 0.125])
def test_an_overlap_at_the_limit_is_none(limit: float) -> None:
    rng = np.random.default_rng(1)
    boxes, scores = boxes_of(rng, 90, 0.0), scores_of(rng, 90, 0.0)
    for near in np.nextafter(np.float32(limit), np.array([0, limit, 1], np.float32)):
        assert_agrees("NonMaxSuppressionV3", boxes, scores, *limits_of(90, near, 0.0))


def test_halves() -> None:
    rng = np.random.default_rng(2)
    boxes, scores = (f(rng, 150, 0.0).astype(np.float16) for f in (boxes_of, scores_of))
    assert_agrees("NonMaxSuppressionV3", boxes, scores, *limits_of(40, 0.375, 0.1, "float16"))


@pytest.mark.parametrize("kinds", [1, 5])
def test_classes_are_combined(kinds: int) -> None:
    rng = np.random.default_rng(3)
    boxes = boxes_of(rng, 2 * 70 * kinds, 0.0).reshape(2, 70, kinds, 4)
    scores = scores_of(rng, 2 * 70 * 5, 0.0).reshape(2, 70, 5)
    limits = [np.array(20, np.int32), np.array(50, np.int32), np.float32(0.4), np.float32(0.1)]
    for clip in (False, True):
        assert_agrees("CombinedNonMaxSuppression", boxes, scores, *limits, clip_boxes=clip)


def test_overlaps_that_are_given() -> None:
    rng = np.random.default_rng(4)
    overlaps = rng.integers(0, 8, (130, 130)).astype(np.float32) / 8
    limits = limits_of(60, 0.75, 0.0)
    assert_agrees("NonMaxSuppressionWithOverlaps", overlaps, scores_of(rng, 130, 0.0), *limits)
