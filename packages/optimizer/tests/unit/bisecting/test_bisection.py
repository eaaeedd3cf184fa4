"""Row J19: fuel, and the search for the rewrite that changes a result.

The culprits are deliberate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, assert_same_values
from random_arithmetic import draw as draw_arithmetic
from wrong_passes import exchanges_operands, fails_on_tanh, install, minus_tanh, negates

from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph, validate
from drystone_optimizer import OptimizerConfig, optimize_with_report, register
from drystone_optimizer.bisecting.bisection import Culprit, bisect
from drystone_optimizer.bisecting.steps import Rewriting
from drystone_optimizer.checking.runs import Runner, draw, inputs_of
from drystone_optimizer.core.fuel import Fuel
from drystone_optimizer.core.watch import Watch
from drystone_optimizer.plugins.sources import Optimizer, optimizers


def long_graph() -> Graph:
    """Much to rewrite, and one Sub in the middle of it."""
    m = Maker()
    at = m.x()
    for k in range(12):
        at = m.op("Mul", f"one{k}", at, m.const(f"c{k}", 1.0), T=FLOAT32)
        at = m.op("Tanh", f"t{k}", at, T=FLOAT32)
        if k == 6:
            at = m.op("Sub", "sub", at, m.const("half", 0.5), T=FLOAT32)
    m.op("Neg", "y", at, T=FLOAT32)
    return m.graph


def search(
    graph: Graph,
    fetches: Sequence[str] = ("y:0",),
    feeds: Sequence[str] = ("x:0",),
    available: Sequence[Optimizer] = (),
    passes: Sequence[Any] = (),
    **more: Any,
) -> Culprit | None:
    config = OptimizerConfig(fail_on_optimizer_errors=True, **more)
    samples = draw(inputs_of(graph, feeds), 3, 2, {})
    found = Rewriting(config, available, passes)
    return bisect(found, Runner(), graph, fetches, samples)


@pytest.mark.parametrize("seed", [6, 8, 21])
def test_every_amount_of_fuel_gives_a_graph_with_the_same_values(seed: int) -> None:
    """Row C0: a run of the optimizer may stop after any rewrite."""
    made, fetches = draw_arithmetic(seed)
    graph, config = made.m.graph, OptimizerConfig(numeric="exact", min_graph_nodes=-1)
    full = Fuel()
    optimize_with_report(graph, fetches, list(made.feeds), config, (), Watch(full))
    assert full.trail
    for limit in range(1, len(full.trail) + 1):
        fuel = Fuel(limit)
        after, _ = optimize_with_report(graph, fetches, list(made.feeds), config, (), Watch(fuel))
        assert fuel.trail == full.trail[:limit]
        validate(after)
        with np.errstate(all="ignore"):
            assert_same_values(graph, after, fetches, made.feeds, exact=True)


def test_right_passes_are_cleared() -> None:
    assert search(long_graph()) is None


def test_wrong_rule_of_a_built_in_pass_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, exchanges_operands)
    found = search(long_graph())
    assert found is not None
    assert (found.rewrite.name, found.rewrite.rule) == ("remapping", "a - b is b - a")
    assert not found.crash
    assert 20 < found.step <= found.steps
    assert "y:0: " in found.text
    assert [row["node"] for row in found.changes["changed"]] == ["sub"]
    assert found.minimal is not None
    assert [node.op for node in found.minimal.graph if node.op != "Placeholder"] == ["Sub"]
    assert found.minimal.fetches == ("sub:0",)
    assert "values differ" in found.minimal.text


def test_minimal_graph_shows_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, exchanges_operands)
    found = search(long_graph())
    assert found is not None
    assert found.minimal is not None
    small = found.minimal
    again = search(small.graph, small.fetches, list(small.feeds), min_graph_nodes=-1)
    assert again is not None
    assert again.rewrite.rule == "a - b is b - a"


def test_pass_that_crashes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, fails_on_tanh)
    found = search(long_graph())
    assert found is not None
    assert found.crash
    assert found.rewrite.name == "remapping"
    assert "ZeroDivisionError: deliberate, at t" in found.text
    assert found.minimal is not None
    assert [node.op for node in found.minimal.graph if node.op != "Placeholder"] == ["Tanh"]


def test_optimizer_of_a_plugin_is_found() -> None:
    def wrong(data: bytes) -> bytes:
        return data.replace(b"\x12\x03Sub", b"\x12\x03Mul")

    wrong.phase = "end"  # type: ignore[attr-defined]
    register(wrong)
    found = search(long_graph(), available=[o for o in optimizers(load=False) if o.name == "wrong"])
    assert found is not None
    assert (found.rewrite.kind, found.rewrite.name) == ("plugin", "wrong")
    assert found.step == found.steps
    assert found.minimal is not None
    assert [n.op for n in found.minimal.graph if n.op != "Placeholder"] == ["Sub"]


def test_registered_pass_is_found() -> None:
    m = Maker()
    m.op("Square", "s", m.x(), T=FLOAT32)
    m.op("Tanh", "y", "s", T=FLOAT32)
    found = search(m.graph, passes=(negates,))
    assert found is not None
    assert (found.rewrite.kind, found.rewrite.name) == ("registered", "negates")
    assert found.minimal is not None
    assert found.minimal.lines()[-1] == "s = Square(x)"


def test_rewrite_in_a_function_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, exchanges_operands)
    m = Maker()
    m.graph.functions.add(minus_tanh())
    m.op("Tanh", "t", m.x(), T=FLOAT32)
    m.op("f", "call", "t")
    m.op("Neg", "y", "call", T=FLOAT32)
    found = search(m.graph, function_optimization="off", min_graph_nodes=-1)
    assert found is not None
    assert (found.rewrite.where, found.rewrite.rule) == ("f", "a - b is b - a")
    assert found.changes["changed"] == [{"node": "function f", "what": "another body"}]
    assert found.minimal is not None
    assert found.minimal.lines()[-1] == "call = f(t)"


def test_graph_that_never_runs_says_why() -> None:
    m = Maker()
    m.op("CheckNumerics", "y", m.x(), T=FLOAT32, message="no")
    samples = [{"x:0": np.full((1, 3), np.nan, np.float32)}]
    with pytest.raises(BadRequest) as caught:
        bisect(Rewriting(OptimizerConfig(), ()), Runner(), m.graph, ["y:0"], samples)
    assert caught.value.code == "no-sample-runs"
    assert "the graph runs on none of the samples" in str(caught.value)
    assert "found: 1 samples, the last with: " in str(caught.value)
