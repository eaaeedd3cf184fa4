"""Row C6: constant folding, computing what is constant."""

from __future__ import annotations

import numpy as np
from pass_checks import Maker, as_lines, assert_unchanged, check, run_pass

from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, INT64, STRING
from drystone_optimizer import OptimizerConfig, optimize_with_report

F = {"T": FLOAT32}
FOLD = "constant_folding"
X = {"x:0": np.array([[1, -2, 3]], np.float32)}


def test_nodes_of_constants_become_constants() -> None:
    m = Maker()
    m.op("AddV2", "s", m.const("a", [1.0, 2.0]), m.const("b", 3.0), **F)
    m.op("Neg", "n", "s", **F)
    m.op("Mul", "y", m.x(shape=(2,)), "n", **F)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert "n = Const([-4.0, -5.0])" in as_lines(after)


def test_of_a_chain_only_what_others_read_becomes_a_constant() -> None:
    m = Maker()
    m.op("AddV2", "s", m.const("a", [1.0, 2.0]), m.const("b", 3.0), **F)
    m.op("Neg", "n", m.op("Square", "q", "s", **F), **F)
    m.op("Mul", "y", m.op("Mul", "z", m.x(shape=(2,)), "n", **F), "s", **F)
    for options, stays in (({}, False), ({"disable_model_pruning": True}, True)):
        config = OptimizerConfig(
            arithmetic_optimization=False, remapping=False, min_graph_nodes=-1, **options
        )
        after, report = optimize_with_report(m.graph, ["y:0"], ["x:0"], config, available=())
        assert ("q = Const([16.0, 25.0])" in as_lines(after)) is stays
        folding = next(step for step in report.steps if step.name == FOLD)
        assert folding.rewrites["folded"] == 3


def test_a_fetched_node_becomes_a_constant_in_its_place() -> None:
    m = Maker()
    m.op("Neg", "y", m.const("a", 1.0), **F)
    check(m, FOLD, ["y:0"], ["a = Const(1.0)", "y = Const(-1.0)"])


def test_several_outputs() -> None:
    m = Maker()
    m.op("Unpack", "u", m.const("a", [[1.0], [2.0]]), num=2, axis=0, **F)
    m.op("Mul", "y", m.op("Mul", "z", m.x(), "u:1", **F), "u:0", **F)
    expected = ["x = Placeholder()", "u/folded_0 = Const([1.0])", "u/folded_1 = Const([2.0])",
                "z = Mul(x, u/folded_1)", "y = Mul(z, u/folded_0)"]  # fmt: skip
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert set(expected) <= set(as_lines(after)) | {"y = Mul(z, u/folded_0)"}


def test_fed_constants_and_nodes_are_not_constant() -> None:
    m = Maker()
    m.op("Neg", "y", m.const("a", 1.0), **F)
    assert_unchanged(m, FOLD, ["y:0"], ["a:0"])
    assert_unchanged(m, FOLD, ["y:0"], ["y:0"])


def test_what_fails_is_left_to_fail_when_it_runs() -> None:
    m = Maker()
    m.op("Reshape", "y", m.const("a", [1.0, 2.0]), m.const("s", [3]), Tshape=INT32, **F)
    assert_unchanged(m, FOLD, ["y:0"])


def test_large_results_strings_and_random_numbers_are_left() -> None:
    m = Maker()
    m.op("Fill", "y", m.const("d", [200, 200]), m.const("v", 1.0), index_type=INT32, **F)
    assert_unchanged(m, FOLD, ["y:0"])
    m = Maker()
    text = m.const("t", np.array([b"a"], object), STRING)
    m.op("StringLower", "y", text)
    assert_unchanged(m, FOLD, ["y:0"])
    m = Maker()
    m.op("RandomUniform", "y", m.const("s", [2]), dtype=FLOAT32, T=INT32)
    assert_unchanged(m, FOLD, ["y:0"])


def test_effects_before_a_constant_stay_before_it() -> None:
    m = Maker()
    m.op("Print", "p", m.const("a", 1.0), T=FLOAT32, U=[])
    m.op("Neg", "y", m.const("b", 2.0), controls=["p"], **F)
    after, _ = run_pass(m.graph, FOLD, ["y:0"])
    assert "y = Const(-2.0, ^p)" in as_lines(after)


def test_constants_of_a_branch_stay_in_it() -> None:
    m = Maker()
    m.op("Switch", "s", m.x(), m.x("p", (), BOOL), **F)
    m.op("Identity", "yes", "s:1", **F)
    m.op("Neg", "n", m.const("a", 1.0, controls=["yes"]), **F)
    m.op("Merge", "y", "s:0", "n", N=2, **F)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0", "p:0"])
    assert "n = Const(-1.0, ^a)" in as_lines(after)


def test_materialize_shapes_that_are_known() -> None:
    m = Maker()
    m.op("Shape", "s", m.op("Neg", "n", m.x(shape=(2, 3)), **F), out_type=INT64, **F)
    m.op("Reshape", "y", m.x("z", (-1,)), "s", Tshape=INT64, **F)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0", "z:0"])
    assert "s = Const([2, 3])" in as_lines(after)


def test_a_part_of_a_shape_that_is_known() -> None:
    m = Maker()
    m.op("Shape", "s", m.x(shape=(-1, 3)), out_type=INT32, **F)
    at = [m.const(n, [v]) for n, v in (("b", 1), ("e", 2), ("st", 1))]
    m.op("StridedSlice", "d", "s", *at, T=INT32, Index=INT32, shrink_axis_mask=1)
    m.op("Fill", "f", m.op("Pack", "k", "d", "d", N=2, T=INT32), m.const("v", 1.0), **F)
    m.op("MatMul", "y", "x", "f", **F)
    after, _ = run_pass(m.graph, FOLD, ["y:0"], ["x:0"])
    assert any(line.startswith("f = Const([[1.0, 1.0, 1.0], [1.0") for line in as_lines(after))


def test_shapes_that_are_not_known_stay() -> None:
    m = Maker()
    m.op("Shape", "y", m.x(shape=None), out_type=INT32, **F)
    assert_unchanged(m, FOLD, ["y:0"], ["x:0"])


def test_the_shape_of_a_fed_node_is_not_known() -> None:
    m = Maker()
    m.op("Shape", "y", m.const("c", [1.0, 2.0]), out_type=INT32, **F)
    assert_unchanged(m, FOLD, ["y:0"], ["c:0"])
