"""Rows C5, C7 and C14: debug stripper, shape optimization, loop optimization."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_same_values, assert_unchanged, run_pass

from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, RESOURCE
from drystone_optimizer import OptimizerConfig, optimize_with_report

F = {"T": FLOAT32}
X = {"x:0": np.array([[1, -2, 3]], np.float32)}

# ---- debug stripper ------------------------------------------------------------------------------


def checked() -> Maker:
    m = Maker()
    m.op("CheckNumerics", "c", m.x(), message="bad", **F)
    m.op("Print", "p", "c", "x", U=[FLOAT32], **F)
    m.op("Assert", "a", m.const("ok", np.bool_(True), BOOL), "x", T=[FLOAT32])
    m.op("Neg", "y", "p", controls=["a"], **F)
    return m


def test_strip_effect_and_strip_check() -> None:
    expected = ["x = Placeholder()", "c = Identity(x)", "p = Identity(c, ^x)", "a = NoOp(^ok, ^x)",
                "ok = Const(True)", "y = Neg(p, ^a)"]  # fmt: skip
    after, _ = run_pass(checked().graph, "debug_stripper", ["y:0"], ["x:0"])
    assert [n.op for n in after if n.op in ("Assert", "Print", "CheckNumerics")] == []
    assert {"c = Identity(x)", "a = NoOp(^ok, ^x)"} <= set(as_lines(after)) & set(expected)
    assert_same_values(checked().graph, after, ["y:0"], X, exact=True)


def test_nothing_is_stripped_by_default() -> None:
    m = checked()
    _, report = optimize_with_report(m.graph, ["y:0"], ["x:0"], OptimizerConfig())
    assert "debug_stripper" not in {step.name for step in report.steps}


def test_an_assertion_in_a_branch_stays_in_it() -> None:
    m = Maker()
    m.op("Switch", "s", m.x(), m.x("p", (), BOOL), **F)
    m.op("Assert", "a", m.const("ok", np.bool_(True), BOOL), "s:1", T=[FLOAT32])
    m.op("Identity", "yes", "x", controls=["a"], **F)
    m.op("Merge", "y", "s:0", "yes", N=2, **F)
    after, _ = run_pass(m.graph, "debug_stripper", ["y:0"], ["x:0", "p:0"])
    assert "a = NoOp(^ok, ^s/anchor_1)" in as_lines(after)
    for choice in (True, False):
        assert_same_values(m.graph, after, ["y:0"], {**X, "p:0": choice}, exact=True)


# ---- shape optimization --------------------------------------------------------------------------


def count(**attrs: Any) -> Maker:
    m = Maker()
    m.op("Shape", "s", m.x(shape=(-1, -1)), out_type=INT32, **F)
    m.op("Prod", "y", "s", m.const("k", [0]), T=INT32, Tidx=INT32, **attrs)
    return m


def test_product_of_shape_is_the_size() -> None:
    expected = ["x = Placeholder()", "y = Size(x)"]
    after, _ = run_pass(count().graph, "shape_optimization", ["y:0"], ["x:0"])
    assert set(expected) <= set(as_lines(after))
    assert_same_values(count().graph, after, ["y:0"], X, exact=True)


def test_product_that_keeps_its_axis_stays() -> None:
    assert_unchanged(count(keep_dims=True), "shape_optimization", ["y:0"], ["x:0"])
    assert_unchanged(count(), "shape_optimization", ["y:0"], ["x:0", "s:0"])


def quotient(reshaped: list[int]) -> Maker:
    m = Maker()
    m.op("Size", "a", m.x(shape=(-1, 6)), out_type=INT32, **F)
    m.op("Slice", "part", "x", m.const("b", [0, 0]), m.const("n", reshaped), Index=INT32, **F)
    m.op("Size", "c", "part", out_type=INT32, **F)
    m.op("FloorDiv", "y", "a", "c", T=INT32)
    return m


def test_quotient_of_sizes_whose_unknown_dimensions_cancel() -> None:
    m = Maker()
    m.op("Size", "a", m.x(shape=(-1, 6)), out_type=INT32, **F)
    m.op("Sum", "s", "x", m.const("k", [1]), Tidx=INT32, **F)
    m.op("Size", "c", "s", out_type=INT32, **F)
    m.op("FloorDiv", "y", "a", "c", T=INT32)
    after, _ = run_pass(m.graph, "shape_optimization", ["y:0"], ["x:0"])
    assert "y = Const(6)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], {"x:0": np.ones((4, 6), np.float32)}, exact=True)


def test_sizes_that_may_differ_stay() -> None:
    assert_unchanged(quotient([2, 3]), "shape_optimization", ["y:0"], ["x:0"])


# ---- loop optimization ---------------------------------------------------------------------------


def branches(value: bool = True) -> Maker:
    m = Maker()
    m.op("Switch", "s", m.x(), m.const("p", np.bool_(value), BOOL), **F)
    m.op("Neg", "no", "s:0", **F)
    m.op("Square", "yes", "s:1", **F)
    m.op("Merge", "m", "no", "yes", N=2, **F)
    m.op("Identity", "y", "m", **F)
    return m


@pytest.mark.parametrize(("value", "taken", "left"), [(True, "yes", "no"), (False, "no", "yes")])
def test_a_branch_that_is_never_taken_goes(value: bool, taken: str, left: str) -> None:
    m = branches(value)
    m.op("Identity", "which", "m:1", T=INT32)
    after, _ = run_pass(m.graph, "loop_optimization", ["y:0", "which:0"], ["x:0"])
    assert taken in after
    assert left not in after
    assert not {n.op for n in after} & {"Switch", "Merge"}
    assert_same_values(m.graph, after, ["y:0", "which:0"], X, exact=True)


def test_a_fetched_merge_keeps_both_outputs() -> None:
    m = branches()
    after, _ = run_pass(m.graph, "loop_optimization", ["m:0", "m:1"], ["x:0"])
    assert after["m"].op == "IdentityN"
    assert_same_values(m.graph, after, ["m:0", "m:1"], X, exact=True)


def test_a_dead_branch_inside_a_live_one() -> None:
    m = branches()
    m.op("Switch", "outer", "y", m.x("q", (), BOOL), **F)
    m.op("Switch", "inner", "outer:1", m.const("f", np.bool_(False), BOOL), **F)
    m.op("Neg", "a", "inner:0", **F)
    m.op("Square", "b", "inner:1", **F)
    m.op("Merge", "mm", "a", "b", N=2, **F)
    m.op("Merge", "z", "outer:0", "mm", N=2, **F)
    after, _ = run_pass(m.graph, "loop_optimization", ["z:0"], ["x:0", "q:0"])
    assert [n.name for n in after if n.op == "Switch"] == ["outer"]
    for choice in (True, False):
        assert_same_values(m.graph, after, ["z:0"], {**X, "q:0": choice}, exact=True)


def test_fed_predicates_and_fetched_branches_stay() -> None:
    assert_unchanged(branches(), "loop_optimization", ["y:0"], ["x:0", "p:0"])
    assert_unchanged(branches(), "loop_optimization", ["y:0", "no:0"], ["x:0"])
    assert_unchanged(branches(), "loop_optimization", ["y:0"], ["x:0", "no:0"])
    assert_unchanged(branches(), "loop_optimization", ["y:0"], ["x:0", "m:1"])


def pushed(pop: bool) -> Maker:
    m = Maker()
    m.op("StackV2", "stack", m.const("n", 3), elem_type=FLOAT32)
    m.op("StackPushV2", "push", "stack", m.x(), **F)
    m.op("Neg", "y", "push", **F)
    if pop:
        m.op("StackPopV2", "pop", "stack", controls=["push"], elem_type=FLOAT32)
    return m


def test_a_push_without_pop_passes_its_element_on() -> None:
    m = pushed(False)
    after, _ = run_pass(m.graph, "loop_optimization", ["y:0"], ["x:0"])
    assert after["push"].op == "Identity"
    assert after["push"].inputs == ((after["x"], 0),)
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)


def test_a_stack_that_is_popped_or_fetched_stays() -> None:
    assert_unchanged(pushed(True), "loop_optimization", ["y:0", "pop:0"], ["x:0"])
    m = pushed(False)
    m.op("Identity", "handle", "stack", T=RESOURCE)
    assert_unchanged(m, "loop_optimization", ["y:0", "handle:0"], ["x:0"])
