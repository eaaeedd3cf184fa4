"""Golden cases of CropAndResize and ExtractImagePatches."""

import itertools
from collections.abc import Iterator

from drawing import BFLOAT16, drawer, floats, ints
from oracle import Case, case

_draw = drawer(109, 0, 99)
_BOXES = [[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9], [0.9, 0.8, 0.1, 0.2], [-0.5, 0, 1.5, 1], [0.3] * 4]


def _crops() -> Iterator[Case]:
    x, boxes, at = _draw((2, 6, 5, 2)), floats(_BOXES), ints(0, 1, 0, 1, 1)
    for size, method in itertools.product([(3, 4), (1, 1), (7, 2)], ["bilinear", "nearest"]):
        yield case("CropAndResize", x, boxes, at, ints(*size), method=method)
    yield case("CropAndResize", x, boxes, at, ints(3, 3), extrapolation_value=-7.5)
    for kind in ("u1", "u2", "i1", "i2", "i4", "i8", "f2", "f8"):
        yield case("CropAndResize", _draw((1, 4, 4, 1), kind), boxes, at * 0, ints(3, 3))
    yield case("CropAndResize", x, boxes[:0], at[:0], ints(3, 3))
    yield case("CropAndResize", x, boxes, at + 1, ints(3, 3), note="refused")
    yield case("CropAndResize", x, boxes, at[:2], ints(3, 3), note="refused")
    yield case("CropAndResize", x, boxes, at, ints(0, 3), note="refused")
    yield case("CropAndResize", x, boxes[:, :3], at, ints(3, 3), note="refused")


def _patches() -> Iterator[Case]:
    x = _draw((2, 6, 5, 2))
    for size, step, rate, padding in itertools.product(
        [(2, 2), (3, 1)], [1, 2], [1, 2], ["SAME", "VALID"]
    ):
        yield case(
            "ExtractImagePatches", x, ksizes=[1, *size, 1], strides=[1, step, step, 1],
            rates=[1, rate, rate, 1], padding=padding, tol=0,
        )  # fmt: skip
    ones = {"strides": [1] * 4, "rates": [1] * 4, "padding": "VALID"}
    for kind in ("i4", "u1", "f8", "f2", BFLOAT16, "c8"):
        yield case("ExtractImagePatches", _draw((1, 3, 3, 1), kind), ksizes=[1, 2, 2, 1], **ones)
    volume = _draw((1, 4, 5, 3, 2))
    for step, padding in itertools.product([1, 2], ["SAME", "VALID"]):
        yield case(
            "ExtractVolumePatches", volume, ksizes=[1, 2, 3, 1, 1],
            strides=[1, step, step, 1, 1], padding=padding, tol=0,
        )  # fmt: skip
    yield case("ExtractImagePatches", x[0], ksizes=[1, 2, 2, 1], note="refused", **ones)


CASES: list[Case] = [*_crops(), *_patches()]
