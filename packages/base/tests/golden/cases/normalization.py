"""Golden cases of batch normalization and local response normalization."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from drawing import BFLOAT16, Array, drawer, tolerance
from oracle import Case, case

_draw = drawer(107)


def _vectors(count: int, kind: Any = "f4") -> list[Array]:
    return [
        _draw((count,), kind), _draw((count,), kind), _draw((count,), kind),
        (np.abs(_draw((count,))) + 0.1).astype(kind),
    ]  # fmt: skip


def _forward() -> Iterator[Case]:
    for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        for layout, shape in [("NHWC", (2, 3, 4, 5)), ("NCHW", (2, 5, 3, 4))]:
            for epsilon in (1e-4, 1e-2):
                attrs = {"data_format": layout, "epsilon": epsilon, "is_training": False}
                yield case(op, _draw(shape), *_vectors(5), compared=3, **attrs)
        for factor in (1.0, 0.25, 0.0):
            for layout, shape in [("NHWC", (2, 3, 4, 5)), ("NCHW", (2, 5, 3, 4))]:
                attrs = {"data_format": layout, "exponential_avg_factor": factor}
                yield case(op, _draw(shape), *_vectors(5), tol=1e-4, **attrs)
    for kind in ("f2", BFLOAT16):
        for op in ("FusedBatchNormV2", "FusedBatchNormV3"):
            for training in (True, False):
                x = _draw((2, 3, 3, 2), kind)
                tol = tolerance(x.dtype, 2)
                seen = None if training else 3
                yield case(op, x, *_vectors(2), is_training=training, tol=tol, compared=seen)
    yield case("FusedBatchNormV3", _draw((1, 1, 1, 3)), *_vectors(3), note="one row")
    yield case("FusedBatchNormV3", _draw((0, 2, 2, 3)), *_vectors(3), note="empty", compared=1)
    empty = {"is_training": False, "note": "empty", "compared": 1}
    yield case("FusedBatchNormV3", _draw((0, 2, 2, 3)), *_vectors(3), **empty)
    for layout, volume in [("NDHWC", (2, 2, 3, 4, 3)), ("NCDHW", (2, 3, 2, 3, 4))]:
        for training in (True, False):
            seen = None if training else 3
            attrs = {"data_format": layout, "is_training": training, "compared": seen}
            yield case("FusedBatchNormV3", _draw(volume), *_vectors(3), tol=1e-4, **attrs)
    x = _draw((1, 2, 2, 3))
    yield case("FusedBatchNormV3", x, *_vectors(2), is_training=False, note="refused")
    yield case("FusedBatchNormV3", x[0], *_vectors(3), is_training=False, note="refused")


def _gradients() -> Iterator[Case]:
    for op in ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"):
        third = [np.zeros(0, np.float32)] if op.endswith("V3") else []
        for layout, shape in [("NHWC", (2, 3, 4, 5)), ("NCHW", (2, 5, 3, 4))]:
            x, dy, scale = _draw(shape), _draw(shape), _draw((5,))
            axes = (0, 1, 2) if layout == "NHWC" else (0, 2, 3)
            moments = [x.mean(axes), x.var(axes)]
            attrs = {"data_format": layout, "epsilon": 1e-3, "tol": 1e-4}
            yield case(op, dy, x, scale, *moments, *third, **attrs)
            given = [_draw((5,)), np.abs(_draw((5,))) + 0.1]
            if layout == "NHWC":  # TensorFlow refuses the other layout here
                yield case(op, dy, x, scale, *given, *third, is_training=False, **attrs)
    for layout, volume in [("NDHWC", (2, 2, 3, 2, 3)), ("NCDHW", (2, 3, 2, 3, 2))]:
        x, dy, scale = _draw(volume), _draw(volume), _draw((3,))
        over = (0, 1, 2, 3) if layout == "NDHWC" else (0, 2, 3, 4)
        inputs = [dy, x, scale, x.mean(over), x.var(over), np.zeros(0, np.float32)]
        yield case("FusedBatchNormGradV3", *inputs, data_format=layout, tol=1e-4)
    x, dy, scale = _draw((2, 2, 2, 3), "f2"), _draw((2, 2, 2, 3), "f2"), _draw((3,))
    wide = x.astype("f4")
    inputs = [dy, x, scale, wide.mean((0, 1, 2)), wide.var((0, 1, 2))]
    yield case("FusedBatchNormGradV2", *inputs, tol=1e-2)


def _others() -> Iterator[Case]:
    settings: list[dict[str, Any]] = [
        {},
        {"depth_radius": 1, "bias": 2.0, "alpha": 0.3, "beta": 0.75},
        {"depth_radius": 2},
    ]
    for attrs in settings:
        for kind in ("f4", "f2"):
            x = _draw((2, 2, 3, 7), kind)
            yield case("LRN", x, tol=tolerance(x.dtype, 2), **attrs)
    for attrs in settings:
        x, y, dy = (_draw((1, 2, 2, 6)) for _ in range(3))
        yield case("LRNGrad", dy, x, y, tol=1e-4, **attrs)
    yield case("LRN", _draw((2, 3)), note="refused")


CASES: list[Case] = [*_forward(), *_gradients(), *_others()]
