"""Row C0, the meta-optimizer: order, iterations, smallest size, deadline, failures, verifier."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from pass_checks import Maker
from wrong_passes import fails_on_tanh, install

from drystone_base.core.dtypes import BOOL, FLOAT32
from drystone_base.graph import Graph, Node
from drystone_optimizer import OptimizerConfig, OptimizerWarning, Report, optimize_with_report
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Rule, apply_rules
from drystone_optimizer.passes import names_of_passes
from drystone_optimizer.passes._registry import PASSES, BuiltIn
from drystone_optimizer.pipeline import schedule
from drystone_optimizer.session.stage import optimize_for_session


def graph() -> Graph:
    m = Maker()
    m.op("Mul", "one", m.x(), m.const("c", 1.0), T=FLOAT32)
    m.op("Tanh", "t", "one", T=FLOAT32)
    m.op("Neg", "n", "t", T=FLOAT32)
    m.op("Neg", "y", "n", T=FLOAT32)
    return m.graph


def run(**more: Any) -> tuple[Graph, Report]:
    return optimize_with_report(graph(), ["y:0"], ["x:0"], OptimizerConfig(**more), ())


def names(report: Report, iteration: int = 1) -> list[str]:
    return [step.name for step in report.steps if step.iteration == iteration]


def replaced(monkeypatch: pytest.MonkeyPatch, name: str, function: Any) -> None:
    """Let a pass of that name do something else."""
    other = BuiltIn(name, name, name, function)
    monkeypatch.setattr(
        schedule, "PASSES", tuple(other if one.name == name else one for one in PASSES)
    )


def test_passes_run_in_the_documented_order() -> None:
    _, report = run()
    order = [name for name in names_of_passes() if name in names(report)]
    assert names(report) == order
    assert order.index("constant_folding") < order.index("arithmetic_optimization")
    assert order.index("arithmetic_optimization") < order.index("remapping")


def test_iterations_end_when_nothing_changes_and_at_their_number() -> None:
    _, report = run(meta_optimizer_iterations=9)
    last = max(step.iteration for step in report.steps)
    assert 1 < last < 9
    assert all(s.outcome == "unchanged" for s in report.steps if s.iteration == last)
    _, report = run(meta_optimizer_iterations=1)
    assert {step.iteration for step in report.steps} == {1}


@pytest.mark.parametrize(("least", "skipped"), [(0, False), (7, True), (6, False), (-1, False)])
def test_small_graphs_are_left_alone(least: int, skipped: bool) -> None:
    before = graph()
    config = OptimizerConfig(min_graph_nodes=least)
    after, report = optimize_with_report(before, ["y:0"], ["x:0"], config, ())
    assert (after is before) is skipped
    if skipped:
        assert {(s.outcome, s.reason) for s in report.steps} == {
            ("skipped", "the graph has 6 nodes")
        }


@pytest.mark.parametrize(
    ("data_format", "least", "converted"),
    [("NCHW", 0, True), ("NCHW", 4, False), ("NHWC", 0, False)],
)
def test_one_layer_with_its_channels_first_is_converted(
    data_format: str, least: int, converted: bool
) -> None:
    m = Maker()
    x = m.x(shape=(1, 8, 9, 9) if data_format == "NCHW" else (1, 9, 9, 8))
    filters = m.const("filters", np.ones((3, 3, 8, 8), np.float32))
    attrs = {"strides": [1] * 4, "padding": "SAME", "data_format": data_format}
    m.op("Conv2D", "y", x, filters, T=FLOAT32, **attrs)
    config = OptimizerConfig(min_graph_nodes=least, cpu_layout_conversion="nchw_to_nhwc")
    after, report = optimize_with_report(m.graph, ["y:0"], ["x:0"], config, ())
    assert ("Transpose" in {node.op for node in after}) is converted
    assert (report.steps[0].outcome == "skipped") is not converted


def test_deadline_undoes_the_pass_that_runs_and_keeps_what_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slow(ctx: Context) -> None:
        ctx.graph.set_op(ctx.graph["t"], "Neg")
        while True:
            ctx.tick()

    replaced(monkeypatch, "arithmetic_optimization", slow)
    with pytest.warns(OptimizerWarning, match="over at pass arithmetic_optimization on the graph"):
        after, report = run(meta_optimizer_timeout_ms=300)
    assert after["t"].op == "Tanh", "involution"
    assert "one" not in after, "constant folding had finished"
    step = report.steps[-1]
    assert (step.name, step.outcome) == ("arithmetic_optimization", "skipped")
    assert step.reason == "meta_optimizer exceeded deadline."
    assert "remapping" not in names(report)


def test_pass_that_fails_is_left_out_and_the_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, fails_on_tanh)
    after, report = run()
    assert "one" not in after
    (step,) = [s for s in report.steps if s.name == "remapping"]
    assert step.outcome == "failed"
    assert step.reason == "ZeroDivisionError: deliberate, at t"


def test_of_a_graph_with_more_than_is_needed_passes_edit_the_part_that_was_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a failure they begin with it as it was, and the given graph never changes."""
    install(monkeypatch, fails_on_tanh)
    alone, _ = run()
    whole = graph()
    whole.add("Neg", "prune", [(whole["x"], 0)], attrs={"T": FLOAT32})
    before = whole.to_bytes()
    copies: list[Graph] = []
    plain = Graph.copy

    def copy(self: Graph, *args: Any, **more: Any) -> Graph:
        copies.append(plain(self, *args, **more))
        return copies[-1]

    monkeypatch.setattr(Graph, "copy", copy)
    config = OptimizerConfig(verify_passes=False)
    after = optimize_for_session(whole, ["y:0"], ["x:0"], config)
    assert after.to_bytes() == alone.to_bytes()
    assert whole.to_bytes() == before
    assert after is copies[-1]
    assert len(copies) == 2, "one at first, one after the failure"


def test_failure_can_be_made_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, fails_on_tanh)
    with pytest.raises(ZeroDivisionError, match="deliberate, at t"):
        run(fail_on_optimizer_errors=True)


def test_verifier_finds_a_graph_that_does_not_hold_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lose(ctx: Context, node: Any, _: Any) -> None:
        ctx.graph.set_inputs(node, [])

    install(monkeypatch, Rule("lose", ("Tanh",), lambda _, n: True if n.inputs else None, lose))
    with pytest.warns(OptimizerWarning, match="rule 'lose' made a node of the graph"):
        after, report = run(verify_passes=True)
    assert after["t"].inputs
    assert "one" not in after
    assert {step.outcome for step in report.steps} == {"changed", "unchanged"}


def test_switch_leaves_everything_alone() -> None:
    before = graph()
    config = OptimizerConfig(disable_meta_optimizer=True)
    after, report = optimize_with_report(before, ["y:0"], ["x:0"], config, ())
    assert after is before
    assert report.steps == []


def test_a_rule_that_leaves_what_its_op_does_not_allow_is_named_and_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All else is done."""

    def match(ctx: Context, node: Node) -> bool | None:
        return True if node.name == "t" and not ctx.kept(node) else None

    def apply(ctx: Context, node: Node, _: bool) -> None:
        ctx.become(node, "LogicalNot", [node.inputs[0]], {})

    wrong = Rule("no such numbers", ("Tanh",), match, apply)
    replaced(monkeypatch, "remapping", lambda ctx: apply_rules(ctx, (wrong,)))
    with pytest.warns(OptimizerWarning, match="rule 'no such numbers' made a node of the graph"):
        after, report = run()
    assert after["t"].op == "Tanh"
    assert "one" not in after
    assert all(step.outcome != "failed" for step in report.steps)


def test_a_pass_that_leaves_what_ops_do_not_allow_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong(ctx: Context) -> None:
        if "t" in ctx.graph:
            ctx.graph.set_op(ctx.graph["t"], "LogicalNot")
            ctx.count("wrong")

    replaced(monkeypatch, "remapping", wrong)
    after, report = run()
    assert after["t"].op == "Tanh"
    assert "one" not in after
    (step,) = [s for s in report.steps if s.name == "remapping"]
    assert step.outcome == "failed"
    assert "'t' (LogicalNot)" in step.reason


def test_a_graph_that_was_invalid_is_no_rules_fault() -> None:
    m = Maker()
    m.op("Mul", "one", m.x(), m.const("c", 1.0), T=FLOAT32)
    m.op("LogicalNot", "t", "one")
    m.op("Identity", "y", "t", T=BOOL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimize_with_report(m.graph, ["y:0"], ["x:0"], OptimizerConfig(), ())
