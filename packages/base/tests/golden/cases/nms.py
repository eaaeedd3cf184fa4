"""Golden cases of non-maximum suppression."""

import itertools
from collections.abc import Iterator

import numpy as np
from drawing import Array, drawer, floats
from oracle import Case, case

_draw = drawer(115)


def _settings(*values: float, kind: str = "f4") -> list[Array]:
    return [np.asarray(int(values[0]), np.int32), *(floats(v, kind) for v in values[1:])]


def _all() -> Iterator[Case]:
    corner = np.abs(_draw((20, 2)))
    boxes = np.concatenate([corner, corner + np.abs(_draw((20, 2)))], 1).astype("f4")
    boxes[3] = boxes[3][[2, 3, 0, 1]]
    boxes[5], boxes[6, 2:] = boxes[4], boxes[6, :2]
    scores = np.round(np.abs(_draw((20,))) * 5) / 5
    for count, overlap in itertools.product((0, 3, 30), (0.0, 0.3, 0.5, 1.0)):
        yield case("NonMaxSuppression", boxes, scores, *_settings(count), iou_threshold=overlap)
        yield case("NonMaxSuppressionV2", boxes, scores, *_settings(count, overlap))
        for low in (-1.0, 0.5):
            three = _settings(count, overlap, low)
            yield case("NonMaxSuppressionV3", boxes, scores, *three)
            for padded in (False, True):
                pad = {"pad_to_max_output_size": padded}
                yield case("NonMaxSuppressionV4", boxes, scores, *three, **pad)
                for sigma in (0.0, 0.5):
                    four = _settings(count, overlap, low, sigma)
                    yield case("NonMaxSuppressionV5", boxes, scores, *four, **pad)
    shared = np.abs(_draw((20, 20)))
    yield case("NonMaxSuppressionWithOverlaps", shared, scores, *_settings(8, 0.9, 0.1))
    half = boxes.astype("f2"), scores.astype("f2")
    yield case("NonMaxSuppressionV3", *half, *_settings(5, 0.5, 0.1, kind="f2"))
    yield case("NonMaxSuppressionV3", boxes[:0], scores[:0], *_settings(5, 0.5, 0.1))
    three = _settings(5, 0.5, 0.1)
    yield case("NonMaxSuppressionV3", boxes, scores[:5], *three, note="refused")
    yield case("NonMaxSuppressionV3", boxes[:, :3], scores, *three, note="refused")
    yield case("NonMaxSuppressionV3", boxes, scores, *_settings(5, 1.5, 0.1), note="refused")


def _combined() -> Iterator[Case]:
    op = "CombinedNonMaxSuppression"
    corner = np.abs(_draw((2, 12, 3, 2)))
    boxes = np.concatenate([corner, corner + np.abs(_draw((2, 12, 3, 2)))], 3).astype("f4")
    scores = np.abs(_draw((2, 12, 3)))
    for each, most, overlap in [(3, 5, 0.3), (2, 20, 0.6), (12, 40, 1.0)]:
        four = [np.asarray(each, np.int32), np.asarray(most, np.int32), floats(overlap)]
        for per_class, clip in itertools.product((False, True), (False, True)):
            attrs = {"pad_per_class": per_class, "clip_boxes": clip}
            yield case(op, boxes, scores, *four, floats(0.4), **attrs)
            yield case(op, boxes[:, :, :1], scores, *four, floats(-1), **attrs)
    four = [np.asarray(2, np.int32), np.asarray(0, np.int32), floats(0.5), floats(0)]
    yield case(op, boxes, scores, *four, note="refused")
    yield case(op, boxes[:, :, :2], scores, *four, note="refused")


CASES: list[Case] = [*_all(), *_combined()]
