"""Golden cases of boxes, glimpses, transforms, random parts, gradients of crops, fused nodes."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from drawing import drawer, floats, ints
from oracle import Case, case

_draw = drawer(117, 0, 99)
_BOXES = [[[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9], [0.9, 0.8, 0.1, 0.2], [-0.5, 0.5, 1.5, 0.75]]]
_MATRICES = [
    [1, 0, 0, 0, 1, 0, 0, 0],
    [1, 0, 1.25, 0, 1, -2.5, 0, 0],
    [0.5, 0.25, -1, -0.25, 1.5, 2, 0.01, -0.02],
    [-1.5, 0.3, 9, 0.2, -2, 14, 0, 0.1],
    [1, 0, 0, 0, 1, 0, -0.25, 0],
]


def _boxes() -> Iterator[Case]:
    for depth, kind in itertools.product((1, 3, 4), ("f4", "f2")):
        x = (_draw((2, 7, 9, depth)) / 99).astype(kind)
        boxes = np.repeat(floats(_BOXES), 2, 0)
        yield case("DrawBoundingBoxes", x, boxes, tol=0)
        yield case("DrawBoundingBoxesV2", x, boxes, _draw((3, 4)), tol=0)
        yield case("DrawBoundingBoxesV2", x, boxes, np.zeros((0, 4), np.float32), tol=0)
    many = np.random.default_rng(2).uniform(-0.3, 1.3, (1, 25, 4)).astype(np.float32)
    yield case("DrawBoundingBoxes", _draw((1, 12, 15, 3)), many, tol=0)
    yield case("DrawBoundingBoxes", _draw((1, 12, 15, 3)), many[:, :0], tol=0)
    x = _draw((1, 3, 4, 3))
    for boxes in (floats([[0, 0, 1, 1]]), floats([[[0, 0, 1]]]), np.repeat(floats(_BOXES), 2, 0)):
        yield case("DrawBoundingBoxes", x, boxes)
    yield case("DrawBoundingBoxes", _draw((1, 3, 4, 2)), floats(_BOXES))
    yield case("DrawBoundingBoxes", x[0], floats(_BOXES))
    yield case("DrawBoundingBoxesV2", x, floats(_BOXES), _draw((3, 2)))
    yield case("DrawBoundingBoxesV2", x, floats(_BOXES), _draw((3,)))


def _glimpses() -> Iterator[Case]:
    x = _draw((3, 9, 8, 2))
    spots = [floats([[0, 0], [0.5, -0.25], [0.1, 0.9]]), floats([[1, 2], [-3, 4], [6, 7]])]
    for op, spot, normalized, centered in itertools.product(
        ("ExtractGlimpse", "ExtractGlimpseV2"), spots, (True, False), (True, False)
    ):
        for size in ((3, 4), (5, 2), (11, 3)):
            yield case(
                op, x, ints(*size), spot, normalized=normalized, centered=centered,
                uniform_noise=False, noise="zero", tol=0,
            )  # fmt: skip
    zero: dict[str, Any] = {"uniform_noise": False, "noise": "zero"}
    yield case("ExtractGlimpse", x, ints(0, 3), spots[0], **zero)
    for empty in (x[:, :0], x[:, :, :0], x[..., :0]):
        yield case("ExtractGlimpse", empty, ints(4, 3), spots[0], **zero)
    yield case("ExtractGlimpse", x, ints(3, -1), spots[0], **zero)
    yield case("ExtractGlimpse", x, ints(3), spots[0], **zero)
    yield case("ExtractGlimpse", x, ints(3, 3), spots[0][:2], **zero)
    yield case("ExtractGlimpse", x[0], ints(3, 3), spots[0], **zero)
    yield case("ExtractGlimpse", x, ints(3, 3), spots[0], uniform_noise=True, noise="zero")
    yield case("ExtractGlimpse", x, ints(3, 3), spots[0], uniform_noise=False, noise="pink")


def _transforms() -> Iterator[Case]:
    x = _draw((5, 6, 7, 2))
    for mode, method in itertools.product(
        ("CONSTANT", "REFLECT", "WRAP", "NEAREST"), ("NEAREST", "BILINEAR")
    ):
        options = {"fill_mode": mode, "interpolation": method}
        yield case("ImageProjectiveTransformV2", x, floats(_MATRICES), ints(8, 9), **options)
        fill = np.float32(7.5)
        yield case("ImageProjectiveTransformV3", x, floats(_MATRICES), ints(4, 5), fill, **options)
        yield case("ImageProjectiveTransformV2", x[:, :1, :1], floats(_MATRICES[1:2]), ints(3, 3),
                   **options)  # fmt: skip
    for kind in ("u1", "i4", "i8", "f2", "f8"):
        typed = _draw((5, 4, 3, 1), kind)
        for method in ("NEAREST", "BILINEAR"):
            yield case("ImageProjectiveTransformV2", typed, floats(_MATRICES), ints(5, 5),
                       interpolation=method)  # fmt: skip
    one, plain = floats(_MATRICES[:1]), {"interpolation": "NEAREST"}
    yield case("ImageProjectiveTransformV2", x, one, ints(0, 4), **plain)
    yield case("ImageProjectiveTransformV2", x, one, ints(4), **plain)
    yield case("ImageProjectiveTransformV2", x, one[:, :7], ints(4, 4), **plain)
    yield case("ImageProjectiveTransformV2", x, floats(_MATRICES[:3]), ints(4, 4), **plain)
    yield case("ImageProjectiveTransformV2", x[0], one, ints(4, 4), **plain)
    yield case("ImageProjectiveTransformV3", x, one, ints(4, 4), floats([1]), **plain)


def _samples() -> Iterator[Case]:
    boxes = floats([[[0.1, 0.2, 0.6, 0.9], [0.3, 0.3, 0.4, 0.4]]])
    drawn = itertools.product(
        ([40, 50, 3], [7, 5, 1], [120, 33, 3]),
        ([0.75, 1.33], [1.0, 1.0], [0.3, 3.0]),
        ([0.05, 1.0], [0.4, 0.5]),
        (0.1, 0.9, 0.0),
    )
    for seed, (size, aspects, areas, least) in enumerate(drawn, 1):
        options: dict[str, Any] = {"aspect_ratio_range": aspects, "area_range": areas}
        cover = np.float32(least)
        for k in (1, 2):
            yield case("StatelessSampleDistortedBoundingBox", ints(*size), boxes, cover,
                       np.array([seed, k], np.int64), tol=0, **options)  # fmt: skip
        yield case("SampleDistortedBoundingBoxV2", ints(*size), boxes, cover, seed=seed,
                   seed2=5, tol=0, **options)  # fmt: skip
        yield case("SampleDistortedBoundingBox", ints(*size), boxes, min_object_covered=least,
                   seed=seed, seed2=6, tol=0, **options)  # fmt: skip
    yield from _odd_samples(boxes)


def _odd_samples(boxes: np.ndarray[Any, Any]) -> Iterator[Case]:
    size, cover, seed = ints(40, 50, 3), np.float32(0.1), np.array([1, 2], np.int32)
    op = "StatelessSampleDistortedBoundingBox"
    for kind in (np.uint8, np.int8, np.int16, np.int64):
        yield case(op, size.astype(kind), boxes, cover, seed, tol=0)
    yield case(op, ints(1, 1, 3), boxes, cover, seed, max_attempts=3, tol=0)
    yield case(op, ints(0, 5, 3), boxes, cover, seed, tol=0)
    yield case(op, ints(-1, 5, 3), boxes, cover, seed)
    yield case(op, size, boxes[:, :0], cover, seed)
    yield case(op, size, boxes[:, :0], cover, seed, use_image_if_no_bounding_boxes=True, tol=0)
    yield case(op, size, boxes[0], cover, seed)
    yield case(op, size, boxes * 2, cover, seed)
    yield case(op, size[:2], boxes, cover, seed)
    yield case(op, size, boxes, -cover, seed)
    yield case(op, size, boxes, floats([0.1]), seed)
    yield case(op, size, boxes, cover, seed[:1])
    yield case(op, size, boxes, cover, seed, max_attempts=0)
    yield case(op, size, boxes, cover, seed, aspect_ratio_range=[0.0, 1.0])
    yield case(op, size, boxes, cover, seed, aspect_ratio_range=[1.0])
    yield case(op, size, boxes, cover, seed, area_range=[0.1, 1.5])


def _crop_gradients() -> Iterator[Case]:
    boxes, at = floats(_BOXES[0]), ints(0, 1, 0, 1)
    for (h, w), method in itertools.product([(3, 4), (1, 1), (7, 2)], ("bilinear", "nearest")):
        grads = _draw((4, h, w, 2))
        for kind in ("float32", "float16", "float64"):
            yield case("CropAndResizeGradImage", grads, boxes, at, ints(2, 6, 5, 2), T=kind,
                       method=method, tol=1e-5 if kind != "float16" else 2e-2)  # fmt: skip
    for kind in ("f4", "f2", "f8", "u1", "u2", "i1", "i2", "i4", "i8"):
        for h, w in ((3, 4), (1, 1)):
            image = _draw((2, 6, 5, 2), kind)
            yield case("CropAndResizeGradBoxes", _draw((4, h, w, 2)), image, boxes, at)
    grads, image = _draw((4, 3, 3, 2)), _draw((2, 6, 5, 2))
    yield case("CropAndResizeGradBoxes", grads[:0], image, boxes[:0], at[:0])
    yield case("CropAndResizeGradBoxes", grads, image, boxes, at + 1)
    yield case("CropAndResizeGradBoxes", grads, image[..., :1], boxes, at)
    yield case("CropAndResizeGradBoxes", grads[:3], image, boxes, at)
    yield case("CropAndResizeGradBoxes", grads, image, boxes[:, :3], at)
    size, plain = ints(2, 6, 5, 2), {"T": "float32"}
    yield case("CropAndResizeGradImage", grads[:0], boxes[:0], at[:0], size, **plain)
    yield case("CropAndResizeGradImage", grads, boxes, at - 1, size, **plain)
    yield case("CropAndResizeGradImage", grads, boxes, at, size[:3], **plain)
    yield case("CropAndResizeGradImage", grads, boxes, at, ints(2, 0, 5, 2), **plain)
    yield case("CropAndResizeGradImage", grads, boxes, at, ints(2, 6, 5, 3), **plain)


def _fused() -> Iterator[Case]:
    x, filters = _draw((1, 6, 5, 2)), _draw((3, 2, 2, 4))
    paddings = ints([0, 0], [1, 2], [2, 1], [0, 0])
    for mode, padding, step in itertools.product(
        ("REFLECT", "SYMMETRIC"), ("SAME", "VALID"), (1, 2)
    ):
        options = {"mode": mode, "padding": padding, "strides": [1, step, step, 1]}
        yield case("FusedPadConv2D", x, paddings, filters, **options)
        for corners in (True, False):
            yield case("FusedResizeAndPadConv2D", x, ints(7, 9), paddings, filters,
                       resize_align_corners=corners, **options)  # fmt: skip
    options = {"mode": "REFLECT", "padding": "SAME", "strides": [1, 1, 1, 1]}
    for kind, tol in (("f8", 1e-5), ("f2", 2e-2)):
        typed = (x / 9).astype(kind), paddings, (filters / 9).astype(kind)
        yield case("FusedPadConv2D", *typed, tol=tol, **options)
    yield case("FusedPadConv2D", x, paddings + 9, filters, **options)
    yield case("FusedPadConv2D", x, paddings - 1, filters, **options)
    yield case("FusedPadConv2D", x, paddings[:3], filters, **options)
    yield case("FusedPadConv2D", x, ints([1, 0], [0, 0], [0, 0], [0, 0]), filters, **options)
    yield case("FusedPadConv2D", x, paddings, filters[:, :, :1], **options)
    yield case("FusedPadConv2D", x[:0], paddings, filters, **options)


CASES: list[Case] = [
    *_boxes(),
    *_glimpses(),
    *_transforms(),
    *_samples(),
    *_crop_gradients(),
    *_fused(),
]
