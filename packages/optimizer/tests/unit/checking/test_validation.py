"""Row J20, translation validation: a pass that changes a result is rejected.

The graph before it is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from pass_checks import Maker, assert_same_values
from wrong_passes import exchanges_operands, install, minus_tanh, reorders_sums

from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph, Node
from drystone_optimizer import OptimizerConfig, OptimizerWarning, Report, optimize_with_report
from drystone_optimizer.checking.comparison import difference
from drystone_optimizer.checking.runs import Runner, draw, inputs_of
from drystone_optimizer.checking.validation import Validator
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.core.watch import Watch
from drystone_optimizer.plugins.sources import Optimizer

EXACT, REASSOCIATES, APPROXIMATE = Numeric


def verified(
    graph: Graph, available: Sequence[Optimizer] = (), **more: Any
) -> tuple[Graph, Report]:
    samples = draw(inputs_of(graph, ["x:0"]), 0, 3, {})
    checks = Validator(Runner(), graph, ["y:0"], samples)
    config = OptimizerConfig(min_graph_nodes=-1, **more)
    return optimize_with_report(graph, ["y:0"], ["x:0"], config, available, Watch(checks=checks))


def difference_graph() -> Graph:
    m = Maker()
    m.op("Mul", "one", m.x(), m.const("c", 1.0), T=FLOAT32)
    m.op("Sub", "d", "one", m.const("half", 0.5), T=FLOAT32)
    m.op("Neg", "y", "d", T=FLOAT32)
    return m.graph


def test_wrong_pass_is_rejected_and_the_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, exchanges_operands)
    graph = difference_graph()
    after, report = verified(graph)
    assert report.rejected == ("remapping",)
    assert "one" not in after
    assert_same_values(
        graph, after, ["y:0"], {"x:0": np.array([[1, -2, 3]], np.float32)}, exact=True
    )
    (step,) = [s for s in report.steps if s.outcome == "rejected"]
    assert "remapping changed the result" in step.reason
    assert "sample 0 gives the same before and after" in step.reason
    assert "y:0: 3 of 3 values differ" in step.reason
    assert "class exact, the highest among what it did" in step.reason
    assert "`drystone bisect` finds the rewrite" in step.reason


def test_right_passes_are_not_rejected() -> None:
    after, report = verified(difference_graph())
    assert report.rejected == ()
    assert "one" not in after


@pytest.mark.parametrize(("claimed", "rejected"), [(EXACT, ("remapping",)), (REASSOCIATES, ())])
def test_result_is_held_to_the_class_that_the_rule_claims(
    claimed: Numeric, rejected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row C20: other roundings are allowed to a rule that says so, and to no other."""
    install(monkeypatch, reorders_sums(claimed))
    m = Maker()
    m.op("AddV2", "s", m.x(shape=(-1, 64)), m.const("c", 0.1), T=FLOAT32)
    m.op("Tanh", "t", "x", T=FLOAT32)
    m.op("AddV2", "y", "s", "t", T=FLOAT32)
    assert verified(m.graph)[1].rejected == rejected


def test_wrong_rewrite_of_a_body_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, exchanges_operands)
    m = Maker()
    m.graph.functions.add(minus_tanh())
    m.x()
    m.op("f", "y", "x")
    after, report = verified(m.graph, function_optimization="off")
    assert [(s.name, s.where) for s in report.steps if s.outcome == "rejected"] == [
        ("remapping", "f")
    ]
    assert_same_values(
        m.graph, after, ["y:0"], {"x:0": np.array([[1, -2, 3]], np.float32)}, exact=True
    )


def test_wrong_plugin_is_rejected() -> None:
    def run(work: Any) -> bytes:
        data: bytes = work.graph
        return data.replace(b"\x12\x03Sub", b"\x12\x03Mul")

    wrong = Optimizer("wrong", "1.0", "wrong.so", "CPU", run)
    graph = difference_graph()
    with pytest.warns(OptimizerWarning, match="plugin wrong changed the result"):
        after, report = verified(graph, [wrong])
    assert report.rejected == ("plugin wrong",)
    assert_same_values(
        graph, after, ["y:0"], {"x:0": np.array([[1, -2, 3]], np.float32)}, exact=True
    )


def test_graph_that_does_not_run_any_more_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    def widen(ctx: Context, node: Node, _: Any) -> None:
        ctx.graph.set_input(node, 1, ctx.add_constant(node, "seven", np.zeros(7, F32)))

    fresh = Rule("wide", ("Sub",), lambda _, n: None if "seven" in str(n.inputs) else True, widen)
    install(monkeypatch, fresh)
    _, report = verified(difference_graph())
    (step,) = [s for s in report.steps if s.outcome == "rejected"]
    assert "found: the graph does not run any more: " in step.reason


F32 = np.float32


@pytest.mark.parametrize(("a", "b", "numeric", "said"), [
    ([1.0, 2.0], [1.0, 2.0], EXACT, ""),
    ([np.nan], [np.nan], EXACT, ""),
    ([0.0], [-0.0], EXACT, "1 of 1 values differ: 0.0 became -0.0"),
    ([0.0], [-0.0], REASSOCIATES, ""),
    ([1.0], [1.0000001], EXACT, "1 of 1 values differ"),
    ([1.0], [1.0000001], REASSOCIATES, ""),
    ([1.0], [1.01], REASSOCIATES, "1 of 1 values differ"),
    ([1.0], [1.01], APPROXIMATE, ""),
    ([1.0], [1.2], APPROXIMATE, "1 of 1 values differ"),
    ([np.inf], [np.nan], REASSOCIATES, "1 of 1 values differ"),
    ([1.0, np.inf], [1.0, np.nan], APPROXIMATE, ""),
    ([np.inf], [np.inf], REASSOCIATES, ""),
])  # fmt: skip
def test_difference_by_numeric_class(a: Any, b: Any, numeric: Numeric, said: str) -> None:
    found = difference(np.array(a, F32), np.array(b, F32), numeric)
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_integers_and_texts_are_equal_or_not() -> None:
    ints = np.array([1, 2]), np.array([1, 3])
    assert "1 of 2 values differ: 2 became 3 at [1]" in difference(*ints, REASSOCIATES)
    assert difference(*ints, APPROXIMATE) == ""
    texts = np.array([b"a"], object), np.array([b"b"], object)
    assert difference(*texts, APPROXIMATE) != ""


def test_dtype_and_shape_must_stay_whatever_the_class() -> None:
    assert "float32[1] became float32[2]" in difference(
        np.zeros(1, F32), np.zeros(2, F32), APPROXIMATE
    )
    narrow = np.ones(3, ml_dtypes.bfloat16)
    assert difference(narrow, narrow, EXACT) == ""
    assert difference(narrow, narrow * np.asarray(2, narrow.dtype), APPROXIMATE) != ""


def test_drawn_samples_have_both_signs_and_zeros() -> None:
    m = Maker()
    m.x(shape=(50, 50))
    first, second = draw(inputs_of(m.graph, ["x:0"]), 0, 2, {})
    assert first["x:0"].min() >= 0
    assert (second["x:0"] < 0).any()
    zeros = second["x:0"][second["x:0"] == 0]
    assert set(np.signbit(zeros)) == {np.True_, np.False_}
    again = draw(inputs_of(m.graph, ["x:0"]), 0, 2, {})
    assert (again[1]["x:0"] == second["x:0"]).all()
