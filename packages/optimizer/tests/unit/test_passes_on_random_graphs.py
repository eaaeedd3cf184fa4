"""Random programs give the same with and without the optimizer."""

from __future__ import annotations

import numpy as np
import pytest
import random_arithmetic
from random_programs import disagreement, draw

from drystone_optimizer import OptimizerConfig


@pytest.mark.parametrize("seed", range(40))
def test_random_program(seed: int) -> None:
    """Branches, loops, functions, state and errors; the reference runs the graph as it is."""
    config = OptimizerConfig(fail_on_optimizer_errors=True, min_graph_nodes=-1)
    assert disagreement(draw(seed), config) is None


@pytest.mark.parametrize("seed", range(150))
def test_random_arithmetic_keeps_every_bit_when_asked_to(seed: int) -> None:
    made, fetches = random_arithmetic.draw(seed)
    config = OptimizerConfig(numeric="exact", fail_on_optimizer_errors=True, min_graph_nodes=-1)
    plain = random_arithmetic.run(made, fetches, "off")
    for name, one, other in zip(
        fetches, plain, random_arithmetic.run(made, fetches, config), strict=True
    ):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, name)
        known = ~np.isnan(one)
        np.testing.assert_array_equal(np.signbit(one)[known], np.signbit(other)[known], name)


@pytest.mark.parametrize("seed", range(150, 300))
def test_random_arithmetic_agrees_by_default(seed: int) -> None:
    made, fetches = random_arithmetic.draw(seed)
    config = OptimizerConfig(fail_on_optimizer_errors=True, min_graph_nodes=-1)
    plain = random_arithmetic.run(made, fetches, "off")
    for name, one, other in zip(
        fetches, plain, random_arithmetic.run(made, fetches, config), strict=True
    ):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4, err_msg=name)
