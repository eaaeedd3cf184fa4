"""Non-maximum suppression: the best boxes, without those that overlap a better one."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet

__all__ = ["Limits", "Overlap", "overlaps_of", "suppress"]

Overlap: TypeAlias = Callable[[int, int], float]


@dataclass(frozen=True)
class Limits:
    """When to stop: how many boxes, which overlap is too much, which score too little; softness."""

    most: int
    overlap: float
    score: float
    sigma: float = 0.0


def _lesser(a: Any, b: Any) -> Any:
    return np.where(b < a, b, a)


def _greater(a: Any, b: Any) -> Any:
    return np.where(a < b, b, a)


@quiet
def overlaps_of(boxes: Array) -> Overlap:
    """Intersection over union of two ``[y1, x1, y2, x2]`` boxes, corners in any order.

    NaN corners count as TensorFlow's comparisons take them: the first of two stays.
    """
    wide = boxes.astype(np.float32)
    low = _lesser(wide[:, :2], wide[:, 2:])
    high = _greater(wide[:, :2], wide[:, 2:])
    area = np.prod(high - low, axis=1)

    def overlap(a: int, b: int) -> float:
        if area[a] <= 0 or area[b] <= 0:
            return 0.0
        sides = _greater(_lesser(high[a], high[b]) - _greater(low[a], low[b]), np.float32(0))
        shared = sides[0] * sides[1]
        return float(shared / (area[a] + area[b] - shared))

    return overlap


@quiet
def suppress(
    scores: Sequence[float], overlap: Overlap, limits: Limits
) -> tuple[list[int], list[float]]:
    """Chosen boxes, best first, and their scores (lowered by Soft-NMS where ``sigma`` > 0).

    A box is compared only with those chosen since it was last looked at. An overlap that is NaN
    makes the score 0, or with ``sigma`` NaN, which drops the box, as minus infinity does without
    ``sigma``. Soft-NMS: Bodla and others, 2017.
    """
    heap = [(-s, k, 0) for k, s in enumerate(scores) if s > limits.score]
    heapq.heapify(heap)
    chosen: list[int] = []
    kept: list[float] = []
    while heap and len(chosen) < limits.most:
        negative, box, seen = heapq.heappop(heap)
        score, dropped = -negative, False
        for other in reversed(chosen[seen:]):
            shared = overlap(box, other)
            if limits.sigma > 0:
                score *= math.exp(-0.5 / limits.sigma * shared * shared)
            elif not shared <= limits.overlap:
                dropped, score = shared > limits.overlap, score * 0
            elif shared == -math.inf:
                score = math.nan
            if dropped or score <= limits.score:
                break
        if dropped:
            continue
        if score == -negative:
            chosen.append(box)
            kept.append(score)
        elif score > limits.score:
            heapq.heappush(heap, (-score, box, len(chosen)))
    return chosen, kept


def _check(call: Call, boxes: Array, scores: Array, settings: Sequence[Array]) -> None:
    call.require(
        boxes.ndim == 2 and boxes.shape[1] == 4 and scores.shape == boxes.shape[:1],
        "boxes must be [boxes, 4] and scores [boxes]",
        found=f"{list(boxes.shape)} and {list(scores.shape)}",
        needed="one score per box",
    )
    _check_scalars(call, settings)


def _check_scalars(call: Call, settings: Sequence[Array]) -> None:
    call.require(
        all(s.ndim == 0 for s in settings),
        "the inputs after the scores must be scalars",
        found=[list(s.shape) for s in settings],
        needed="scalars",
    )


def _limits(call: Call, settings: Sequence[Array]) -> Limits:
    count = int(settings[0])
    values = [float(s) for s in settings[1:]] or [call.attrs["iou_threshold"]]
    overlap, score, sigma = (*values, *(-math.inf, 0.0)[len(values) - 1 :])[:3]
    call.require(
        count >= 0 and 0 <= overlap <= 1 and sigma >= 0,
        "max_output_size must not be negative, iou_threshold lie in [0, 1], sigma not be negative",
        found=f"{count}, {overlap}, {sigma}",
        needed="0 or more, 0 to 1, 0 or more",
    )
    return Limits(count, overlap, score, sigma)


def _padded(call: Call, values: list[int] | list[float], count: int, dtype: type) -> Array:
    """The values, with zeros up to ``count`` where the node asks for that."""
    size = count if call.attrs.get("pad_to_max_output_size") else len(values)
    check_size(call, (size,), np.dtype(dtype))
    out: Array = np.zeros(size, dtype)
    out[: len(values)] = values
    return out


@kernel("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def non_max_suppression(call: Call, boxes: Array, scores: Array, *settings: Array) -> Array:
    """Indices of the chosen boxes, int32; TF ``NonMaxSuppressionV3``."""
    _check(call, boxes, scores, settings)
    chosen, _ = suppress(scores.tolist(), overlaps_of(boxes), _limits(call, settings))
    return np.array(chosen, np.int32)


@kernel("NonMaxSuppressionV4", "NonMaxSuppressionV5")
def non_max_suppression_padded(
    call: Call, boxes: Array, scores: Array, *settings: Array
) -> tuple[Array, ...]:
    """Indices, with V5 their scores, and how many are real; TF ``NonMaxSuppressionV5``."""
    _check(call, boxes, scores, settings)
    limits = _limits(call, settings)
    chosen, kept = suppress(scores.tolist(), overlaps_of(boxes), limits)
    indices = _padded(call, chosen, limits.most, np.int32)
    valid = np.asarray(len(chosen), np.int32)
    if call.op.endswith("V4"):
        return indices, valid
    return indices, _padded(call, kept, limits.most, scores.dtype.type), valid


@kernel("NonMaxSuppressionWithOverlaps")
def non_max_suppression_withoverlaps_of(
    call: Call, overlaps: Array, scores: Array, *settings: Array
) -> Array:
    """As V3, with the ``[boxes, boxes]`` overlaps given; TF ``NonMaxSuppressionWithOverlaps``."""
    call.require(
        overlaps.shape == scores.shape * 2 and scores.ndim == 1,
        "overlaps must be square, with a score per row",
        found=f"{list(overlaps.shape)} and {list(scores.shape)}",
        needed="[boxes, boxes] and [boxes]",
    )
    _check_scalars(call, settings)
    count, overlap, score = int(settings[0]), float(settings[1]), float(settings[2])
    call.require(
        count >= 0, "max_output_size must not be negative", found=count, needed="0 or more"
    )
    limits = Limits(count, overlap, score)
    chosen, _ = suppress(scores.tolist(), lambda a, b: float(overlaps[a, b]), limits)
    return np.array(chosen, np.int32)
