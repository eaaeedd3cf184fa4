"""Non-maximum suppression of every class by itself, the best of all classes together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.image.nms import Limits, Overlap, overlaps_of, suppress

__all__: list[str] = []


@kernel("CombinedNonMaxSuppression")
@quiet
def combined_non_max_suppression(
    call: Call, boxes: Array, scores: Array, *settings: Array
) -> tuple[Array, Array, Array, Array]:
    """Boxes ``[batch, n, 4]``, scores and classes ``[batch, n]``, and how many of each are real.

    ``boxes`` is ``[batch, boxes, 1 or classes, 4]``, ``scores`` ``[batch, boxes, classes]``; TF
    ``CombinedNonMaxSuppression``.
    """
    limits, most = _settings(call, boxes, scores, settings)
    batch, _, classes = scores.shape
    size = min(most, limits.most * classes) if call.attrs["pad_per_class"] else most
    check_size(call, (batch, size, 4), boxes.dtype)
    out = np.zeros((batch, size, 4), np.float32)
    kept = np.zeros((2, batch, size), np.float32)
    valid = np.zeros(batch, np.int32)
    for n in range(batch):
        chosen = _best(boxes[n], scores[n], limits)[:size]
        valid[n] = len(chosen)
        for k, (score, category, box) in enumerate(chosen):
            out[n, k] = boxes[n, box, category if boxes.shape[2] > 1 else 0]
            kept[:, n, k] = score, category
    if call.attrs["clip_boxes"]:
        out = np.clip(out, 0, 1)
    return out, kept[0], kept[1], valid


def _best(boxes: Array, scores: Array, limits: Limits) -> list[tuple[float, int, int]]:
    """Score, class and box of all that the classes choose, best first."""
    found = []
    for category in range(scores.shape[1]):
        overlap = _numbers(overlaps_of(boxes[:, category if boxes.shape[1] > 1 else 0]))
        chosen, kept = suppress(scores[:, category].tolist(), overlap, limits)
        found += [(score, category, box) for score, box in zip(kept, chosen, strict=True)]
    return sorted(found, key=lambda row: -row[0])


def _numbers(overlap: Overlap) -> Overlap:
    """Overlaps, 0 for those that are NaN: here they suppress nothing."""

    def number(a: int, b: int) -> float:
        shared = overlap(a, b)
        return 0.0 if math.isnan(shared) else shared

    return number


def _settings(
    call: Call, boxes: Array, scores: Array, settings: Sequence[Array]
) -> tuple[Limits, int]:
    call.require(
        boxes.ndim == 4 and scores.ndim == 3 and boxes.shape[:2] == scores.shape[:2]
        and boxes.shape[3] == 4 and boxes.shape[2] in (1, scores.shape[2]),
        "boxes must be [batch, boxes, 1 or classes, 4] and scores [batch, boxes, classes]",
        found=f"{list(boxes.shape)} and {list(scores.shape)}",
        needed="equal batch and boxes",
    )  # fmt: skip
    call.require(
        all(s.ndim == 0 for s in settings), "the inputs after the scores must be scalars",
        found=[list(s.shape) for s in settings], needed="scalars",
    )  # fmt: skip
    each, most, overlap, score = (s.item() for s in settings)
    call.require(
        each > 0 and most > 0 and 0 <= overlap <= 1,
        "sizes must be positive and iou_threshold lie in [0, 1]",
        found=f"{each}, {most} and {overlap}",
        needed="1 or more, 0 to 1",
    )
    return Limits(each, overlap, score), most
