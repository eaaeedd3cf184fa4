"""Golden cases of image resizing."""

import itertools
from collections.abc import Iterator

import numpy as np
from drawing import BFLOAT16, drawer, floats, ints
from oracle import Case, case

_draw = drawer(108, 0, 99)
_SIZES = [(4, 5), (7, 11), (3, 2), (1, 1), (8, 10), (5, 1)]
_MODES = [(False, False), (True, False), (False, True)]


def _forward() -> Iterator[Case]:
    x = _draw((2, 4, 5, 2))
    for op, size, (corners, half) in itertools.product(
        ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"), _SIZES, _MODES
    ):
        attrs = {"align_corners": corners, "half_pixel_centers": half}
        tol = 0 if op == "ResizeNearestNeighbor" else 1e-5
        yield case(op, x, ints(*size), tol=tol, **attrs)
    for size, corners in itertools.product(_SIZES, (False, True)):
        yield case("ResizeArea", x, ints(*size), align_corners=corners)
    for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"):
        for kind in ("f2", "f8", "u1", "i1", "u2", "i2", "i4", "i8", BFLOAT16):
            yield case(op, _draw((1, 3, 3, 2), kind), ints(5, 2))
        yield case(op, x[:0], ints(3, 3))
        yield case(op, x, ints(0, 3), note="refused")
        yield case(op, x, ints(3), note="refused")
        yield case(op, x[0], ints(3, 3), note="refused")
        yield case(op, x[:, :0], ints(3, 3), note="refused")


def _gradients() -> Iterator[Case]:
    for (rows, columns), (corners, half) in itertools.product(_SIZES, _MODES):
        attrs = {"align_corners": corners, "half_pixel_centers": half}
        dy = _draw((2, rows, columns, 2))
        yield case("ResizeBilinearGrad", dy, _draw((2, 4, 5, 2)), **attrs)
        yield case("ResizeNearestNeighborGrad", dy, ints(4, 5), **attrs)
        yield case("ResizeBicubicGrad", dy, _draw((2, 4, 5, 2)), tol=1e-4, **attrs)
    dy = _draw((1, 5, 2, 2))
    for kind in ("f8", "f2", BFLOAT16):
        tol = 1e-5 if kind == "f8" else 2e-2
        yield case("ResizeBilinearGrad", dy, _draw((1, 3, 3, 2), kind), tol=tol)
    for kind in ("u1", "i1", "i4", "f8"):
        yield case("ResizeNearestNeighborGrad", _draw((1, 5, 2, 2), kind), ints(3, 3))


def _fine() -> Iterator[Case]:
    ramp = np.arange(64, dtype=np.float32).reshape(1, 8, 8, 1)
    for size in (3, 5, 13):
        for corners, half in _MODES:
            attrs = {"align_corners": corners, "half_pixel_centers": half}
            yield case("ResizeNearestNeighbor", ramp, ints(size, size), tol=0, **attrs)


def _resampled() -> Iterator[Case]:
    x = _draw((2, 6, 7, 2))
    kernels = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic",
               "mitchellcubic")  # fmt: skip
    for kind, smooth in itertools.product(kernels, (False, True)):
        attrs = {"kernel_type": kind, "antialias": smooth, "tol": 1e-4}
        for size, scale, shift in [((3, 4), (0.5, 0.6), (0, 0)), ((9, 8), (1.5, 1.1), (0.7, -2))]:
            given = floats(scale), floats(shift)
            yield case("ScaleAndTranslate", x, ints(*size), *given, **attrs)
            yield case("ScaleAndTranslateGrad", _draw((2, *size, 2)), x, *given, **attrs)
    yield case("ScaleAndTranslate", x, ints(3, 3), floats([0, 1]), floats([0, 0]), note="refused")


CASES: list[Case] = [*_forward(), *_gradients(), *_fine(), *_resampled()]
