"""Row C15: dependency optimization."""

from __future__ import annotations

import numpy as np
from pass_checks import Maker, as_lines, assert_unchanged, check, run_pass

from drystone_base.core.dtypes import BOOL, FLOAT32

F = {"T": FLOAT32}
DEP = "dependency_optimization"
X = {"x:0": np.array([[1, -2, 3]], np.float32)}


def assigned() -> Maker:
    """A variable ``v`` with its assignment ``put``."""
    m = Maker()
    m.x(shape=(2,))
    m.op("VarHandleOp", "v", dtype=FLOAT32, shape=(2,), shared_name="v")
    m.op("AssignVariableOp", "put", "v", "x", dtype=FLOAT32)
    return m


def test_control_edges_that_order_nothing_go() -> None:
    m = Maker()
    m.op("Neg", "n", m.x(), **F)
    m.op("Square", "s", "x", controls=["n"], **F)
    m.op("AddV2", "y", "s", m.const("c", 1.0, controls=["n"]), controls=["s"], **F)
    expected = ["n = Neg(x)", "x = Placeholder()", "s = Square(x)", "c = Const(1.0)",
                "y = AddV2(s, c)"]  # fmt: skip
    check(m, DEP, ["y:0"], expected, X)


def test_edges_from_effects_stay() -> None:
    m = assigned()
    m.op("ReadVariableOp", "y", "v", controls=["put"], dtype=FLOAT32)
    assert_unchanged(m, DEP, ["y:0"], ["x:0"])


def test_edges_from_reads_of_what_is_written_stay() -> None:
    m = assigned()
    m.op("ReadVariableOp", "r", "v", controls=["put"], dtype=FLOAT32)
    m.op("Neg", "n", "r", **F)
    m.op("AssignVariableOp", "again", "v", "x", controls=["n"], dtype=FLOAT32)
    m.op("AddV2", "y", "n", m.const("c", 1.0, controls=["again"]), **F)
    assert_unchanged(m, DEP, ["y:0"], ["x:0"])


def test_bypass_noop_joins_its_neighbours() -> None:
    m = assigned()
    m.op("ReadVariableOp", "r", "v", controls=["put"], dtype=FLOAT32)
    m.op("Neg", "n", "r", **F)
    m.op("NoOp", "group", controls=["n"])
    m.op("ReadVariableOp", "y", "v", controls=["group"], dtype=FLOAT32)
    expected = ["x = Placeholder()", "v = VarHandleOp()", "put = AssignVariableOp(v, x)",
                "r = ReadVariableOp(v, ^put)", "y = ReadVariableOp(v, ^r)"]  # fmt: skip
    check(m, DEP, ["y:0"], expected, {"x:0": np.ones(2, np.float32)})


def test_bypass_identity_with_control_edges_where_they_do_not_become_more() -> None:
    m = assigned()
    m.op("Identity", "i", "x", controls=["put"], **F)
    m.op("Neg", "y", "i", **F)
    expected = ["x = Placeholder()", "v = VarHandleOp()", "put = AssignVariableOp(v, x)",
                "y = Neg(x, ^put)"]  # fmt: skip
    check(m, DEP, ["y:0"], expected, {"x:0": np.ones(2, np.float32)})


def test_a_no_op_between_many_stays() -> None:
    m = Maker()
    m.x(shape=(2,))
    for k in range(3):
        m.op("VarHandleOp", f"v{k}", dtype=FLOAT32, shape=(2,), shared_name=f"v{k}")
        m.op("AssignVariableOp", f"put{k}", f"v{k}", "x", dtype=FLOAT32)
    m.op("NoOp", "group", controls=["put0", "put1", "put2"])
    for k in range(3):
        m.op("ReadVariableOp", f"r{k}", f"v{k}", controls=["group"], dtype=FLOAT32)
    m.op("AddN", "y", "r0", "r1", "r2", N=3, **F)
    assert_unchanged(m, DEP, ["y:0"], ["x:0"])


def test_fetched_and_fed_nodes_stay() -> None:
    m = assigned()
    m.op("Identity", "i", "x", controls=["put"], **F)
    m.op("NoOp", "train", controls=["i"])
    assert_unchanged(m, DEP, ["train", "i:0"], ["x:0"])


def test_an_edge_beside_another_path_goes() -> None:
    m = assigned()
    m.op("ReadVariableOp", "r", "v", controls=["put"], dtype=FLOAT32)
    m.op("Neg", "n", "r", **F)
    m.op("ReadVariableOp", "y", "v", controls=["put", "n"], dtype=FLOAT32)
    after, _ = run_pass(m.graph, DEP, ["n:0", "y:0"], ["x:0"])
    assert "y = ReadVariableOp(v, ^n)" in as_lines(after)


def test_what_runs_in_a_branch_only_goes_on_waiting_for_it() -> None:
    m = Maker()
    m.op("Switch", "s", m.x(), m.x("p", (), BOOL), **F)
    m.op("Identity", "no", "s:0", **F)
    m.op("Identity", "yes", "s:1", **F)
    m.const("a", 1.0, controls=["no"])
    m.const("b", 2.0, controls=["yes"])
    m.op("Merge", "y", "a", "b", N=2, **F)
    assert_unchanged(m, DEP, ["y:0"], ["x:0", "p:0"])


def test_a_path_through_a_fed_node_implies_nothing() -> None:
    """A node that is fed does not run, and so waits for nothing."""
    m = assigned()
    m.op("ReadVariableOp", "r", "v", controls=["put"], dtype=FLOAT32)
    m.op("ReadVariableOp", "y", "v", controls=["put", "r"], dtype=FLOAT32)
    assert_unchanged(m, DEP, ["y:0"], ["x:0", "r:0"])
