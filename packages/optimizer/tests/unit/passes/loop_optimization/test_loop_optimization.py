"""Row C14: loops of frames that run no iteration, and what is the same in all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    as_lines,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    run_pass,
)

from drystone_base.core.dtypes import BOOL, FLOAT32, INT32

F = {"T": FLOAT32}
LOOP = "loop_optimization"
HOIST = {LOOP: "aggressive"}
X = {"x:0": np.array([[1, -0.0, 3], [0.0, -5, 6]], np.float32)}
FRAME = {"frame_name": "f", "parallel_iterations": 10}


def loop(times: int, *, effect: str = "", limit: Any = None, fixed: bool = True) -> Maker:
    """x times the exponential of z, so often; ``effect`` prints in the body or the condition."""
    m = Maker()
    zero = m.const("zero", 0)
    start = m.op("Enter", "start", zero, T=INT32, **FRAME)
    value = m.op("Enter", "value", m.x(), **F, **FRAME)
    m.op("Enter", "factor", m.x("z", ()), **F, **FRAME, is_constant=fixed)
    end = m.const("times", times) if limit is None else m.x("limit", (), INT32)
    m.op("Enter", "end", end, T=INT32, **FRAME, is_constant=True)
    k = m.op("Merge", "k", start, start, N=2, T=INT32)
    v = m.op("Merge", "v", value, value, N=2, **F)
    less = m.op("Less", "less", k, "end", T=INT32)
    if effect == "condition":
        less = m.op("Print", "seen", less, k, T=BOOL, U=[INT32])
    m.op("LoopCond", "go", less)
    m.op("Switch", "ks", k, "go", T=INT32)
    m.op("Switch", "vs", v, "go", **F)
    kt = m.op("Identity", "kt", "ks:1", T=INT32)
    m.op("Exp", "grown", "factor", **F)
    m.op("Mul", "twice", "grown", m.const("two", 2.0, controls=["factor"]), **F)
    step = m.op("Mul", "step", "vs:1", "twice", **F)
    if effect == "body":
        step = m.op("Print", "seen", step, kt, T=FLOAT32, U=[INT32])
    after = m.op("AddV2", "next", kt, m.const("one", 1, controls=[kt]), T=INT32)
    m.graph.set_input(k[0], 1, m.op("NextIteration", "kn", after, T=INT32))
    m.graph.set_input(v[0], 1, m.op("NextIteration", "vn", step, **F))
    m.op("Exit", "left", "vs:0", **F)
    m.op("Neg", "y", "left", **F)
    return m


def fed(m: Maker) -> dict[str, Any]:
    more = {"limit:0": np.int32(2)} if "limit" in m.graph else {}
    return X | {"z:0": np.float32(0.5)} | more


# ---- never entered -------------------------------------------------------------------------------


@pytest.mark.parametrize("effect", ["", "body"])
def test_a_loop_that_is_never_entered_goes(effect: str) -> None:
    m = loop(0, effect=effect)
    after, report = run_pass(m.graph, LOOP, ["y:0"], list(fed(m)))
    assert {"left = Identity(x)", "y = Neg(left)"} <= set(as_lines(after))
    assert not {n.op for n in after} & {"Enter", "Merge", "Switch", "LoopCond", "Exit", "Print"}
    assert report.steps[0].rewrites == {"dead-loop": 1}
    assert_same_values(m.graph, after, ["y:0"], fed(m), exact=True)
    again, _ = run_pass(after, LOOP, ["y:0"], list(fed(m)))
    assert again is after


def test_what_leaves_may_be_fetched() -> None:
    m = loop(0)
    after, _ = run_pass(m.graph, LOOP, ["left:0"], list(fed(m)))
    assert "left = Identity(x)" in as_lines(after)
    assert_same_values(m.graph, after, ["left:0"], fed(m), exact=True)


def test_a_loop_that_is_entered_stays() -> None:
    for m in (loop(1), loop(0, limit="fed"), loop(0, effect="condition")):
        assert_unchanged(m, LOOP, ["y:0"], list(fed(m)))


@pytest.mark.parametrize("name", ["times:0", "less:0", "go:0", "k:0", "left:0", "end:0"])
def test_a_loop_that_is_fed_inside_stays(name: str) -> None:
    assert_unchanged(loop(0), LOOP, ["y:0"], [*fed(loop(0)), name])


def test_a_loop_in_a_branch_stays() -> None:
    m = loop(0)
    m.op("Switch", "branch", "x", m.x("p", (), BOOL), **F)
    m.graph.set_input(m.graph["value"], 0, m.graph.output("branch:1"))
    m.op("Merge", "end_of_it", "branch:0", "y", N=2, **F)
    assert_unchanged(m, LOOP, ["end_of_it:0"], [*fed(m), "p:0"])


def test_a_loop_with_a_loop_in_it_stays() -> None:
    m = loop(0)
    inner = {"frame_name": "inner", "parallel_iterations": 10}
    m.op("Enter", "in", "vs:1", **F, **inner)
    m.op("Exit", "out", "in", **F)
    m.graph.set_input(m.graph["step"], 0, m.graph.output("out"))
    assert_unchanged(m, LOOP, ["y:0"], list(fed(m)))


# ---- the same in all iterations ------------------------------------------------------------------


def test_what_is_the_same_in_all_iterations_comes_before() -> None:
    m = loop(3)
    after, report = run_pass(m.graph, LOOP, ["y:0"], list(fed(m)), **HOIST)
    lines = as_lines(after)
    assert "twice = Enter(twice/before)" in lines
    assert "twice/before = Mul(grown/before, twice/outside)" in lines
    assert "grown/before = Exp(z)" in lines
    assert "factor" not in after
    assert report.steps[0].rewrites == {"loop-invariant": 2}
    assert report.steps[0].numeric == "exact"
    assert_same_values(m.graph, after, ["y:0"], fed(m), exact=True)
    assert_same_natively(m.graph, after, ["y:0"], fed(m))
    again, _ = run_pass(after, LOOP, ["y:0"], list(fed(m)), **HOIST)
    assert again is after


def test_it_stays_unless_asked_for() -> None:
    assert_unchanged(loop(3), LOOP, ["y:0"], list(fed(loop(3))))


def test_what_changes_has_an_effect_or_is_fed_stays() -> None:
    assert_unchanged(loop(3, fixed=False), LOOP, ["y:0"], list(fed(loop(3))), **HOIST)
    assert_unchanged(loop(3), LOOP, ["y:0"], [*fed(loop(3)), "factor:0"], **HOIST)
    m = loop(3)
    m.graph.set_op(m.graph["grown"], "RandomStandardNormal")
    m.graph.set_input(m.graph["grown"], 0, m.graph.output("end"))
    m.graph.set_attr(m.graph["grown"], "T", INT32)
    m.graph.set_attr(m.graph["grown"], "dtype", FLOAT32)
    assert_unchanged(m, LOOP, ["y:0"], list(fed(m)), **HOIST)


def test_it_leaves_two_loops() -> None:
    """What an inner loop does with a value of the world outside of both comes before both."""
    m = loop(2)
    inner = {"frame_name": "inner", "parallel_iterations": 10}
    m.op("Enter", "deeper", "factor", **F, **inner, is_constant=True)
    m.op("Square", "deep", "deeper", **F)
    m.op("Enter", "in", "vs:1", **F, **inner)
    m.op("Mul", "work", "in", "deep", **F)
    m.op("Exit", "out", "work", **F)
    m.graph.set_input(m.graph["step"], 0, m.graph.output("out"))
    after, _ = run_pass(m.graph, LOOP, ["y:0"], list(fed(m)), **HOIST)
    assert {"deep/before = Enter(deep/before/before)", "deep/before/before = Square(z)"} <= set(
        as_lines(after)
    )
    assert_same_values(m.graph, after, ["y:0"], fed(m), exact=True)
