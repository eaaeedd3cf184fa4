"""Gradients that somebody wrote: of one result and of several, in loops, and wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.errors import BadRequest
from drystone_base.tracing import operations as ops

F32 = np.float32


def test_custom_gradients() -> None:
    w = ds.Variable(3.0, "w", dtype="float64")

    @ds.custom_gradient
    def clipped(x: Any, y: Any) -> Any:
        return x * y, lambda grad: (ops.clip_by_value(grad * y, -w, w), None)

    @ds.function
    def slopes(x: Any, y: Any) -> Any:
        first = ds.gradients(clipped(x, y), [x, y])
        _, looped = ds.while_loop(lambda k, _: k < 2, lambda k, v: (k + 1, clipped(v, y)), (0, x))
        return first[0], first[1] is None, ds.gradients(looped, [x])

    by_x, nothing, looped = slopes(np.float64(1), np.float64(10))
    assert (by_x, bool(nothing), looped[0]) == (3, True, 3)
    assert clipped(2.0, 3.0) == 6
    bad = ds.custom_gradient(lambda x: (x, lambda grad: (grad, grad)))
    with pytest.raises(BadRequest, match="another number of gradients"):
        ds.function(bad)(F32(1))


@ds.custom_gradient
def both(x: Any, y: Any) -> Any:
    """The product and the sum, with gradients that tell what came by which result."""
    return (x * y, x + y), lambda by_product, by_sum: (100 * by_product, by_sum * y)


def test_a_custom_gradient_of_several_results_takes_one_for_each() -> None:
    @ds.function
    def slopes(x: Any, y: Any) -> Any:
        product, total = both(x, y)
        return product, total, ds.gradients(2 * product + 3 * total, [x, y])

    product, total, (by_x, by_y) = slopes(np.float64(5), np.float64(7))
    assert (product, total) == (35, 12)
    assert (by_x, by_y) == (200, 21)
    assert both(5.0, 7.0) == (35, 12)


def test_results_that_are_not_used_have_gradients_of_zeros() -> None:
    @ds.function
    def slopes(x: Any, y: Any) -> Any:
        return [ds.gradients(part, [x, y]) for part in both(x, y)]

    product, total = slopes(np.float64(5), np.float64(7))
    assert (product, total) == ([100, 0], [0, 7])


def test_a_custom_gradient_of_several_results_has_a_gradient_of_its_own() -> None:
    @ds.custom_gradient
    def powers(x: Any) -> Any:
        return (x**2, x**3), lambda two, three: two * 2 * x + three * 3 * x**2

    @ds.function
    def slopes(x: Any) -> Any:
        two, three = powers(x)
        (first,) = ds.gradients(two + three, [x])
        return first, ds.gradients(first, [x])

    first, (second,) = slopes(np.float64(2))
    assert (first, second) == (4 + 12, 2 + 12)
