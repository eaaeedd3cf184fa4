"""Row C1: model pruning."""

from __future__ import annotations

import numpy as np
import pytest
from pass_checks import Maker, as_lines, assert_unchanged, check, only

from drystone_base.core.dtypes import BOOL, FLOAT32
from drystone_base.core.errors import GraphError
from drystone_optimizer import optimize_with_report

F = {"T": FLOAT32}
X = {"x:0": np.array([[1, -2, 3]], np.float32)}


def chain(**more: object) -> Maker:
    m = Maker()
    m.op("Identity", "i", m.x(), **F)
    m.op("Neg", "y", "i", **F, **more)
    return m


def test_only_what_the_fetches_need_stays() -> None:
    m = chain()
    m.op("Square", "unused", "x", **F)
    m.op("Print", "effect", "x", T=FLOAT32, U=[])
    check(m, "model_pruning", ["y:0"], ["x = Placeholder()", "y = Neg(x)"], X)


def test_nodes_that_pass_on_go() -> None:
    m = chain()
    m.op("StopGradient", "s", "y", **F)
    m.op("AddN", "n", "s", N=1, **F)
    m.op("IdentityN", "two", "n", "x", T=[FLOAT32, FLOAT32])
    m.op("Mul", "z", "two:0", "two:1", **F)
    check(m, "model_pruning", ["z:0"], ["x = Placeholder()", "y = Neg(x)", "z = Mul(y, x)"], X)


def test_a_fetched_identity_stays() -> None:
    assert_unchanged(chain(), "model_pruning", ["i:0", "y:0"], ["x:0"])


def test_a_fed_identity_stays_and_what_it_read_goes_unread() -> None:
    assert_unchanged(chain(), "model_pruning", ["y:0"], ["i:0", "x:0"])


def test_kept_and_marked_nodes_stay() -> None:
    assert_unchanged(chain(), "model_pruning", ["y:0"], ["x:0"], keep=("i",))
    m = chain()
    m.graph.set_attr(m.graph["i"], "_grappler_do_not_remove", True)
    assert_unchanged(m, "model_pruning", ["y:0"], ["x:0"])


def test_identity_with_control_edges_stays() -> None:
    m = chain()
    m.op("Neg", "z", "y", controls=["i"], **F)
    assert_unchanged(m, "model_pruning", ["z:0"], ["x:0"])


def test_identity_of_a_variable_is_a_read_and_stays() -> None:
    m = Maker()
    m.op("VariableV2", "v", dtype=FLOAT32, shape=(2,))
    m.op("Identity", "read", "v", **F)
    m.op("Neg", "y", "read", **F)
    assert_unchanged(m, "model_pruning", ["y:0"])


def test_identity_between_devices_stays() -> None:
    m = Maker()
    m.op("Identity", "i", m.x(), device="/device:GPU:0", **F)
    m.op("Neg", "y", "i", **F)
    assert_unchanged(m, "model_pruning", ["y:0"], ["x:0"])


def test_identity_of_a_switch_that_is_waited_for_stays() -> None:
    m = Maker()
    m.op("Switch", "s", m.x(), m.const("p", np.bool_(True), BOOL), **F)
    m.op("Identity", "anchor", "s:1", **F)
    m.const("one", 1.0, controls=["anchor"])
    m.op("Merge", "m", "s:0", "one", N=2, **F)
    assert_unchanged(m, "model_pruning", ["m:0"], ["x:0"])


def test_an_effect_behind_an_unused_port_stays() -> None:
    """Who reads one output of an IdentityN has all of its inputs computed."""
    m = Maker()
    m.op("Print", "p", m.x(), T=FLOAT32, U=[])
    m.op("IdentityN", "two", "x", "p", T=[FLOAT32, FLOAT32])
    m.op("Neg", "y", "two:0", **F)
    assert_unchanged(m, "model_pruning", ["y:0"], ["x:0"])


def test_a_variable_that_nothing_needs_any_more_goes() -> None:
    """Only a control edge that orders nothing led there; every pass is checked."""
    m = Maker()
    handle = m.op("VarHandleOp", "v", dtype=FLOAT32, shape=(3,), shared_name="v", container="")
    read = m.op("ReadVariableOp", "r", handle, dtype=FLOAT32)
    m.op("Neg", "y", m.x(), controls=[read], T=FLOAT32)
    config = only("model_pruning", "dependency_optimization")
    after, report = optimize_with_report(m.graph, ["y:0"], ["x:0"], config, available=())
    assert as_lines(after) == ["x = Placeholder()", "y = Neg(x)"]
    assert not [step for step in report.steps if step.outcome == "failed"]


def test_chains_go_at_once_and_what_stays_in_them_stays() -> None:
    m = Maker()
    last = m.x()
    for k in range(12):
        last = m.op("Identity", f"i{k}", last, **F)
    m.op("Neg", "y", last, **F)
    m.op("Neg", "z", "i4", controls=["i7"], **F)
    wanted = ["x = Placeholder()", "i2 = Identity(x)", "i7 = Identity(i2)", "y = Neg(i7)",
              "z = Neg(i2, ^i7)"]  # fmt: skip
    check(m, "model_pruning", ["y:0", "z:0", "i2:0"], wanted, X)


def test_identities_that_read_each_other_are_refused() -> None:
    m = chain()
    m.op("Identity", "a", "x", **F)
    m.op("Identity", "b", "a", **F)
    m.graph.set_inputs(m.graph["a"], [(m.graph["b"], 0)])
    m.op("Neg", "z", "b", **F)
    with pytest.raises(GraphError, match="'b'"):
        optimize_with_report(m.graph, ["z:0"], ["x:0"], only("model_pruning"))
