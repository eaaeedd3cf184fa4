"""A row times a matrix, which is read as it lies, against the NumPy reference."""

from __future__ import annotations

from functools import partial
from typing import Any

import native_ops
import numpy as np
import pytest
from agreement import assert_agrees

pytestmark = native_ops.needs_onednn()
assert_close = partial(assert_agrees, exact=False)


def drawn(depth: int, width: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    random = np.random.default_rng(depth + 1000 * width)
    shapes = ((1, depth), (depth, width))
    x, m = (random.standard_normal(shape).astype(np.float32) for shape in shapes)
    return x, m


@pytest.mark.parametrize("depth", [1, 2, 100])
@pytest.mark.parametrize("width", [1, 15, 16, 17, 127, 128, 129, 160, 300, 512])
def test_rows_of_any_length(depth: int, width: int) -> None:
    x, m = drawn(depth, width)
    assert_close("MatMul", x, m)
    assert_close("MatMul", x.T, m, transpose_a=True)
    assert_close("BatchMatMulV2", x.reshape(1, 1, depth), m)


@pytest.mark.parametrize("shapes", [((0, 3), (3, 5)), ((1, 0), (0, 5)), ((1, 3), (3, 0))], ids=str)
def test_nothing_to_multiply(shapes: Any) -> None:
    assert_close("MatMul", *(np.ones(shape, np.float32) for shape in shapes))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38, 1e-42])
def test_values_at_the_edge(value: float) -> None:
    for width in (16, 133):
        for which in (0, 1):
            operands = drawn(7, width)
            operands[which][0, -1] = value
            operands[1][2, 3] = 0
            assert_close("MatMul", *operands)


def test_what_is_large_flipped_or_of_two_rows() -> None:
    x, m = drawn(600, 600)
    assert_close("MatMul", x, m)
    assert_close("MatMul", x, m.T.copy(), transpose_b=True)
    assert_close("MatMul", np.vstack([x, x]), m)
