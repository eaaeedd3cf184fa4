"""Row C4: common subgraph elimination."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_unchanged, check, run_pass

from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, STRING

F = {"T": FLOAT32}
CSE = "common_subgraph_elimination"
X = {"x:0": np.array([[1, -2, 3]], np.float32)}


def twins(op: str, a: Any, b: Any, first: Any = None, second: Any = None, **attrs: Any) -> Maker:
    """``op`` of x and c, twice, joined by a Pack."""
    m = Maker()
    dtype = attrs.get("T", FLOAT32)
    m.x(dtype=dtype)
    m.x("c", dtype=dtype)
    m.op(op, "a", *a, **attrs, **(first or {}))
    m.op(op, "b", *b, **attrs, **(second or {}))
    m.op("Pack", "y", "a", "b", N=2, T=dtype)
    return m


def test_equal_nodes_become_one_constants_too() -> None:
    m = Maker()
    for k in "ab":
        m.op("Mul", f"m{k}", "x" if k == "b" else m.x(), m.const(f"c{k}", [2.0]), **F)
    m.op("Sub", "y", "ma", "mb", **F)
    expected = ["x = Placeholder()", "ca = Const([2.0])", "ma = Mul(x, ca)", "y = Sub(ma, ma)"]
    check(m, CSE, ["y:0"], expected, X)


@pytest.mark.parametrize(("op", "attrs"), [
    ("AddV2", F), ("Mul", F), ("SquaredDifference", F), ("Maximum", {"T": INT32}),
])  # fmt: skip
def test_inputs_of_commutative_ops_may_be_exchanged(op: str, attrs: Any) -> None:
    after, _ = run_pass(twins(op, "xc", "cx", **attrs).graph, CSE, ["y:0"], ["x:0", "c:0"])
    assert "y = Pack(a, a)" in as_lines(after)


@pytest.mark.parametrize(("op", "attrs"), [
    ("Sub", F), ("Maximum", F), ("Minimum", F), ("MulNoNan", F), ("Add", {"T": STRING}),
])  # fmt: skip
def test_inputs_of_other_ops_may_not(op: str, attrs: Any) -> None:
    """Of 0 and -0 Maximum gives the first."""
    assert_unchanged(twins(op, "xc", "cx", **attrs), CSE, ["y:0"], ["x:0", "c:0"])


@pytest.mark.parametrize(("first", "second"), [
    ({"device": "/device:CPU:0"}, {"device": "/device:CPU:1"}),
    ({"controls": ["x"]}, {}),
    ({"_tag": 1}, {"_tag": 2}),
])  # fmt: skip
def test_device_controls_and_attributes_must_agree(first: Any, second: Any) -> None:
    assert_unchanged(twins("AddV2", "xc", "xc", first, second, **F), CSE, ["y:0"], ["x:0", "c:0"])


def test_signed_zeros_are_different_constants() -> None:
    m = Maker()
    m.op("Pack", "y", m.const("a", 0.0), m.const("b", -0.0), N=2, **F)
    assert_unchanged(m, CSE, ["y:0"])


def test_large_constants_are_compared_in_full() -> None:
    big = np.zeros(100_000, np.float32)
    other = big.copy()
    other[50_000] = 1
    m = Maker()
    m.op("Pack", "y", m.const("a", big), m.const("b", other), m.const("c", big), N=3, **F)
    after, _ = run_pass(m.graph, CSE, ["y:0"])
    assert "y = Pack(a, b, a)" in as_lines(after)


def test_random_ops_and_reads_of_variables_stay() -> None:
    m = Maker()
    shape = m.const("shape", [2])
    for k in "ab":
        m.op("RandomUniform", f"r{k}", shape, dtype=FLOAT32, T=INT32)
    m.op("VariableV2", "v", dtype=FLOAT32, shape=(2,))
    for k in "ab":
        m.op("Identity", f"i{k}", "v", **F)
    m.op("AddN", "y", "ra", "rb", "ia", "ib", N=4, **F)
    assert_unchanged(m, CSE, ["y:0"])


def test_a_fed_node_has_no_twin() -> None:
    assert_unchanged(twins("AddV2", "xc", "xc", **F), CSE, ["y:0"], ["x:0", "c:0", "b:0"])


def test_of_a_fetched_node_and_its_twin_the_fetched_one_stays() -> None:
    after, _ = run_pass(twins("AddV2", "xc", "xc", **F).graph, CSE, ["y:0", "b:0"], ["x:0", "c:0"])
    assert "y = Pack(b, b)" in as_lines(after)


def test_two_fetched_twins_both_stay() -> None:
    assert_unchanged(twins("AddV2", "xc", "xc", **F), CSE, ["y:0", "a:0", "b:0"], ["x:0", "c:0"])


def test_off_with_arithmetic_optimization() -> None:
    m = twins("AddV2", "xc", "xc", **F)
    from pass_checks import only

    from drystone_optimizer import optimize

    config = only(CSE, arithmetic_optimization="off")
    assert optimize(m.graph, ["y:0"], ["x:0", "c:0"], config) is m.graph


def test_where_nodes_are_placed_beside_others_makes_no_difference() -> None:
    beside = ({"_class": ["loc:@x"]}, {"_class": ["loc:@c"]})
    after, _ = run_pass(twins("AddV2", "xc", "xc", *beside, **F).graph, CSE, ["y:0"],
                        ["x:0", "c:0"])  # fmt: skip
    assert "y = Pack(a, a)" in as_lines(after)


def branches(second: str) -> Maker:
    """The same in both branches of two conditions; ``second`` decides the other one."""
    m = Maker()
    m.x(shape=(3,))
    m.x("one", (), BOOL)
    m.x("other", (), BOOL)
    for k, choice in enumerate(("one", second)):
        switch = m.op("Switch", f"s{k}", "x", choice, **F)[0]
        left = m.op("Exp", f"l{k}", (switch, 0), **F)
        right = m.op("Tanh", f"r{k}", (switch, 1), **F)
        m.op("Merge", f"m{k}", left, right, N=2, **F)
    m.op("Pack", "y", "m0", "m1", N=2, **F)
    return m


@pytest.mark.parametrize("taken", [True, False])
def test_branches_of_one_condition_become_one(taken: bool) -> None:
    expected = ["x = Placeholder()", "one = Placeholder()", "s0 = Switch(x, one)",
                "l0 = Exp(s0)", "r0 = Tanh(s0:1)", "m0 = Merge(l0, r0)",
                "y = Pack(m0, m0)"]  # fmt: skip
    values = {"x:0": np.float32([1, -2, 3]), "one:0": np.bool_(taken)}
    m = branches("one")
    m.graph.remove(m.graph["other"])
    check(m, CSE, ["y:0"], expected, values)


def test_branches_of_two_conditions_stay() -> None:
    assert_unchanged(branches("other"), CSE, ["y:0"], ["x:0", "one:0", "other:0"])


def test_loops_are_not_joined() -> None:
    """Two loops with the same body, each with its frame."""
    m = Maker()
    m.x(shape=())
    for k in "ab":
        m.op("Enter", f"e{k}", "x", frame_name=f"f{k}", **F)
        merge = m.graph.add("Merge", f"m{k}", [m.graph[f"e{k}"]] * 2, attrs={"N": 2, **F})
        going = m.op("Less", f"t{k}", f"m{k}", m.const(f"c{k}", 9.0, controls=[f"m{k}"]), **F)
        switch = m.op("Switch", f"s{k}", f"m{k}", m.op("LoopCond", f"l{k}", going), **F)[0]
        m.op("NextIteration", f"n{k}", m.op("AddV2", f"i{k}", (switch, 1), (switch, 1), **F), **F)
        m.graph.set_input(merge, 1, (m.graph[f"n{k}"], 0))
        m.op("Exit", f"o{k}", (switch, 0), **F)
    m.op("Pack", "y", "oa", "ob", N=2, **F)
    assert_unchanged(m, CSE, ["y:0"], ["x:0"])
