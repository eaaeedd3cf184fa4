"""Random programs give the same with and without the optimizer."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import random_arithmetic
from pass_checks import assert_same_values
from random_layers import draw_layers
from random_programs import disagreement, draw
from random_training import draw_training

from drystone_base.ops.own import ATTENTION, GELUS, LAYER_NORM
from drystone_optimizer import OptimizerConfig, optimize_with_report
from drystone_optimizer.passes.layer_fusion import _norms, attention, gelu

pytestmark = pytest.mark.cases_in_gate(3)


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


def test_random_layers_agree_and_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = dict.fromkeys((ATTENTION, LAYER_NORM, *GELUS), ())
    for module in (attention, gelu, _norms):
        monkeypatch.setattr(module, "of_plugins", lambda: kernels)
    config = OptimizerConfig(fail_on_optimizer_errors=True, min_graph_nodes=-1)
    fired: Counter[str] = Counter()
    for seed in range(60):
        made, fetches = draw_layers(seed)
        graph = made.m.graph
        after, report = optimize_with_report(graph, fetches, list(made.feeds), config, available=())
        assert_same_values(graph, after, fetches, made.feeds, exact=False, tolerance=1e-3)
        again, _ = optimize_with_report(after, fetches, list(made.feeds), config, available=())
        assert again is after, seed
        fired.update(rule for step in report.steps for rule in step.rewrites)
    found = {"attention", "layer-norm", "gelu", "device-index",
             "implementation-for-device"}  # fmt: skip
    assert found <= set(fired)


@pytest.mark.parametrize("replicas", [0, 2, 3])
def test_random_training_agrees(replicas: int) -> None:
    """With replicas, too, of which each has the whole batch here: the same step."""
    config = OptimizerConfig(
        fail_on_optimizer_errors=True, min_graph_nodes=-1, auto_parallel_replicas=replicas,
        auto_parallel="on" if replicas else "off",
    )  # fmt: skip
    for seed in range(12):
        assert disagreement(draw_training(seed, plain=replicas > 0), config) is None
    copied = draw_training(0, plain=True)
    graph, (fetches, feeds) = copied.graph, copied.runs[1]
    _, report = optimize_with_report(graph, fetches, list(feeds), config, available=())
    fired = {rule for step in report.steps for rule in step.rewrites}
    assert ("replicas" in fired) is (replicas > 0)
