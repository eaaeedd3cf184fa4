"""Optimizers in Python in a process of their own: the same rights as those of C plugins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import wrong_passes
from pass_checks import Maker

from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.plugins import isolation
from drystone_optimizer import OptimizerConfig, OptimizerWarning, optimize_with_report, register


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    isolation.stop_workers()


def graph() -> Graph:
    m = Maker()
    m.op("Neg", "y", m.x(), T=FLOAT32)
    return m.graph


def optimized(function: Any, **more: Any) -> tuple[Graph, str]:
    function.phase = "end"
    one = register(function)
    config = OptimizerConfig(**{"isolation": "process"} | more)
    after, report = optimize_with_report(graph(), ["y:0"], ["x:0"], config, [one])
    return after, report.runs[0].outcome


def test_it_gives_what_it_would_give_here() -> None:
    after, outcome = optimized(wrong_passes.neg_to_abs)
    assert (after["y"].op, outcome) == ("Abs", "changed")
    assert optimized(wrong_passes.neg_to_abs, isolation="none")[0]["y"].op == "Abs"


def test_parameters_come_across() -> None:
    one = register(wrong_passes.neg_to_abs)
    named = (("neg_to_abs", {"op": "Inv"}),)
    config = OptimizerConfig(
        isolation={"neg_to_abs": "process"}, custom_optimizers=named, use_plugin_optimizers=False
    )
    after, _ = optimize_with_report(graph(), ["y:0"], ["x:0"], config, [one])
    assert after["y"].op == "Inv"


def test_crash_costs_a_warning() -> None:
    with pytest.warns(OptimizerWarning, match="isolated-plugin-crashed") as warned:
        after, outcome = optimized(wrong_passes.crashes)
    assert (after["y"].op, outcome) == ("Neg", "failed")
    assert "SIGABRT" in str(warned[0].message)


def test_hang_ends_at_the_deadline() -> None:
    with pytest.warns(OptimizerWarning, match=r"no answer within 0\.5 s"):
        _, outcome = optimized(wrong_passes.hangs, deadline=0.5)
    assert outcome == "failed"


def test_callable_states_it_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_passes.crashes, "isolation", "process", raising=False)
    with pytest.warns(OptimizerWarning, match="isolated-plugin-crashed"):
        optimized(wrong_passes.crashes, isolation=None)


def test_function_that_no_other_process_finds_is_refused() -> None:
    def local(data: bytes) -> bytes:
        return data

    with pytest.warns(OptimizerWarning, match="cannot run in a process of its own") as warned:
        optimized(local)
    assert "a function of a module that can be imported" in str(warned[0].message)
