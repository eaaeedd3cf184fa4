"""Golden cases of colour operations."""

from collections.abc import Iterator

import numpy as np
from drawing import BFLOAT16, drawer, floats, tolerance
from oracle import Case, case

_draw = drawer(110)


def _all() -> Iterator[Case]:
    rgb = np.abs(_draw((4, 5, 3)))
    rgb = rgb / rgb.max()
    rgb[0, 0], rgb[0, 1], rgb[0, 2], rgb[1, 0] = 0, 1, [1, 0, 0], [0.5, 0.5, 0.2]
    for kind in ("f4", "f8", "f2", BFLOAT16):
        tol = tolerance(kind, 4)
        yield case("RGBToHSV", rgb.astype(kind), tol=tol)
        yield case("HSVToRGB", rgb.astype(kind), tol=tol)
    for amount in (0.0, 0.3, 1.0, 2.5):
        x, factor = rgb, floats(amount)
        yield case("AdjustContrastv2", x, factor)
        yield case("AdjustSaturation", x, factor)
        if amount <= 1:
            yield case("AdjustHue", x, factor)
            yield case("AdjustHue", x, -factor)
    yield case("AdjustContrastv2", np.stack([rgb, rgb * 2]), floats(0.5))
    yield case("AdjustContrastv2", rgb[..., :2], floats(0.5))
    yield case("AdjustContrastv2", rgb[:0], floats(0.5))
    for op in ("RGBToHSV", "HSVToRGB"):
        yield case(op, rgb[..., :2], note="refused")
        yield case(op, rgb[:0])
    for op in ("AdjustHue", "AdjustSaturation"):
        yield case(op, rgb[..., :2], floats(0.5), note="refused")
        yield case(op, rgb[0], floats(0.5), note="refused")
        yield case(op, rgb, floats([0.5]), note="refused")
    yield case("AdjustContrastv2", rgb[0], floats(0.5), note="refused")


CASES: list[Case] = list(_all())
