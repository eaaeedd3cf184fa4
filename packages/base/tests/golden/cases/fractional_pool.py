"""Golden cases of pooling over windows of varying sizes."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from drawing import drawer
from oracle import Case, case

_draw = drawer(118, -50, 50)


def _pools() -> Iterator[Case]:
    seed = 0
    for op, pseudo, overlapping, ratios in itertools.product(
        ("FractionalMaxPool", "FractionalAvgPool"),
        (False, True),
        (False, True),
        ([1.0, 1.4, 1.7, 1.0], [1.0, 2.6, 3.1, 1.0], [1.0, 2.0, 1.0, 1.0]),
    ):
        for kind in ("f4", "f8", "i4", "i8"):
            seed += 1
            yield case(
                op, _draw((2, 12, 17, 2), kind), pooling_ratio=ratios, pseudo_random=pseudo,
                overlapping=overlapping, seed=seed, seed2=3, deterministic=True,
            )  # fmt: skip
    x = _draw((2, 12, 17, 2))
    some: dict[str, Any] = {"seed": 5, "seed2": 6, "deterministic": True}
    yield case("FractionalMaxPool", x, pooling_ratio=[1.0, 1.5, 1.5, 1.0], seed=1)
    for ratios in ([1.0, 0.5, 1.5, 1.0], [1.5, 1.5, 1.5, 1.5], [1.0, 13.0, 1.5, 1.0],
                   [1.0, 1.5, 1.5, 1.5]):  # fmt: skip
        yield case("FractionalMaxPool", x, pooling_ratio=ratios, **some)
    yield case("FractionalAvgPool", x[0], pooling_ratio=[1.0, 1.5, 1.5, 1.0], **some)


def _gradients() -> Iterator[Case]:
    rows, columns = np.array([0, 2, 3, 5, 7], np.int64), np.array([0, 1, 3, 6], np.int64)
    for kind, overlapping in itertools.product(("f4", "f8", "i4", "i8"), (False, True)):
        x, grad = _draw((2, 7, 6, 2), kind), _draw((2, 4, 3, 2), kind)
        pooled = np.zeros_like(grad)
        last = 1 if overlapping else 0
        for i, j in np.ndindex(4, 3):
            cell = x[:, rows[i] : rows[i + 1] + last, columns[j] : columns[j + 1] + last]
            pooled[:, i, j] = cell.max((1, 2))
        yield case("FractionalMaxPoolGrad", x, pooled, grad, rows, columns, overlapping=overlapping)
        shape = np.array(x.shape, np.int64)
        yield case("FractionalAvgPoolGrad", shape, grad, rows, columns, overlapping=overlapping)
    shape, grad = np.array([2, 7, 6, 2], np.int64), _draw((2, 4, 3, 2))
    yield case("FractionalAvgPoolGrad", shape[:3], grad, rows, columns)
    yield case("FractionalAvgPoolGrad", shape, grad[0], rows, columns)
    yield case("FractionalAvgPoolGrad", shape, grad, rows[:3], columns)
    yield case("FractionalAvgPoolGrad", shape, grad, rows - 1, columns)
    x = _draw((2, 7, 6, 2))
    yield case("FractionalMaxPoolGrad", x[0], grad, grad, rows, columns)
    yield case("FractionalMaxPoolGrad", x, grad, grad[:1], rows, columns)
    yield case("FractionalMaxPoolGrad", x, grad, grad, rows[:3], columns)
    yield case("FractionalMaxPoolGrad", x, grad, grad, rows - 1, columns)


CASES: list[Case] = [*_pools(), *_gradients()]
