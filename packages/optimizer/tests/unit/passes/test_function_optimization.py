"""Row C3: function optimization, inlining."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    as_lines,
    assert_same_values,
    assert_unchanged,
    check,
    define,
    node,
    run_pass,
    told,
)

from drystone_abi.protos import NodeDef
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, RESOURCE
from drystone_base.graph import Node
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_optimizer.core import node_budget
from drystone_optimizer.passes import function_optimization

F = {"T": FLOAT32}
FUN = "function_optimization"
X = {"x:0": np.array([[1, -2, 3]], np.float32)}


def calling(
    *nodes: NodeDef, result: str = "n:y:0", op: str = "PartitionedCall", **attrs: Any
) -> Maker:
    """``call`` of a function of x, and ``y`` that reads it."""
    m = Maker()
    define(m, "f", [("a", FLOAT32)], [("r", FLOAT32, result)], *nodes, **attrs)
    m.op(op, "call", m.x(), Tin=[FLOAT32], Tout=[FLOAT32], f=FunctionRef("f"))
    m.op("Square", "y", "call", **F)
    return m


NEG = node("Neg", "n", "a", **F)


def test_body_takes_the_place_of_the_call() -> None:
    expected = ["x = Placeholder()", "call/n = Neg(x)", "y = Square(call/n)"]
    check(calling(NEG), FUN, ["y:0"], expected, X)


def test_direct_calls_and_calls_in_bodies() -> None:
    m = Maker()
    define(m, "f", [("a", FLOAT32)], [("r", FLOAT32, "n:y:0")], NEG)
    define(m, "g", [("a", FLOAT32)], [("r", FLOAT32, "c:r:0")], node("f", "c", "a"))
    m.op("g", "call", m.x())
    m.op("Square", "y", "call", **F)
    expected = ["x = Placeholder()", "call/c/n = Neg(x)", "y = Square(call/c/n)"]
    check(m, FUN, ["y:0"], expected, X)


def test_a_fetched_call_stays_as_identity() -> None:
    expected = ["x = Placeholder()", "call/n = Neg(x)", "call = Identity(call/n)",
                "y = Square(call/n)"]  # fmt: skip
    check(calling(NEG), FUN, ["y:0", "call:0"], expected, X)


def test_effects_run_whenever_the_call_does() -> None:
    m = Maker()
    value = TensorAttr(array=np.ones(3, np.float32))
    define(
        m, "f", [("h", RESOURCE)], [("r", FLOAT32, "c:output:0")],
        node("Const", "c", dtype=FLOAT32, value=value),
        node("AssignAddVariableOp", "bump", "h", "c:output:0", dtype=FLOAT32),
    )  # fmt: skip
    m.op("VarHandleOp", "v", dtype=FLOAT32, shape=(3,), shared_name="v")
    m.op("AssignVariableOp", "put", "v", m.const("zero", np.zeros(3)), dtype=FLOAT32)
    m.op("StatefulPartitionedCall", "call", "v", controls=["put"], Tin=[RESOURCE], Tout=[FLOAT32],
         f=FunctionRef("f"))  # fmt: skip
    m.op("Neg", "n", "call", **F)
    m.op("ReadVariableOp", "y", "v", controls=["n"], dtype=FLOAT32)
    after, _ = run_pass(m.graph, FUN, ["y:0"])
    assert "call/bump = AssignAddVariableOp(v, call/c, ^call/start)" in as_lines(after)
    assert "call/done = NoOp(^call/start, ^call/bump)" in as_lines(after)
    assert_same_values(m.graph, after, ["y:0"], {}, exact=True)


def test_what_waits_for_a_call_waits_for_its_reads() -> None:
    m = Maker()
    define(m, "f", [("h", RESOURCE)], [("r", FLOAT32, "v:value:0")],
           node("ReadVariableOp", "v", "h", dtype=FLOAT32))  # fmt: skip
    m.op("VarHandleOp", "v", dtype=FLOAT32, shape=(3,), shared_name="v")
    m.op("AssignVariableOp", "put", "v", m.const("zero", np.zeros(3)), dtype=FLOAT32)
    m.op("StatefulPartitionedCall", "call", "v", controls=["put"], Tin=[RESOURCE], Tout=[FLOAT32],
         f=FunctionRef("f"))  # fmt: skip
    m.op("AssignVariableOp", "again", "v", m.const("one", np.ones(3)), controls=["call"],
         dtype=FLOAT32)  # fmt: skip
    m.op("Neg", "y", "call", controls=["again"], **F)
    after, _ = run_pass(m.graph, FUN, ["y:0"])
    lines = as_lines(after)
    assert "again = AssignVariableOp(v, one, ^call/done)" in lines
    assert "call/done = NoOp(^call/start, ^call/v)" in lines
    assert_same_values(m.graph, after, ["y:0"], {}, exact=True)


@pytest.mark.parametrize("mark", ["_noinline", "_XlaMustCompile", "_tf_data_function"])
def test_marked_functions_stay_calls(mark: str) -> None:
    attrs: Any = {mark: True}
    m = calling(NEG, **attrs)
    assert_unchanged(m, FUN, ["y:0"], ["x:0"], optimize_functions=False)


def test_aggressive_inlines_what_asks_not_to_be() -> None:
    after, _ = run_pass(calling(NEG, _noinline=True).graph, FUN, ["y:0"], ["x:0"],
                        function_optimization="aggressive")  # fmt: skip
    assert "call/n = Neg(x)" in as_lines(after)


@pytest.mark.parametrize("body", [
    [node("VarHandleOp", "v", dtype=FLOAT32, shape=(3,)),
     node("ReadVariableOp", "n", "v:resource:0", dtype=FLOAT32)],
    [node("RandomUniform", "n", "s:output:0", dtype=FLOAT32, T=INT32),
     node("Const", "s", dtype=INT32, value=TensorAttr(array=np.array([3], np.int32)))],
])  # fmt: skip
def test_bodies_whose_state_goes_by_their_nodes_names_stay(body: Any) -> None:
    out = "n:value:0" if body[1].op == "ReadVariableOp" else "n:output:0"
    m = calling(*body, result=out, op="StatefulPartitionedCall")
    assert_unchanged(m, FUN, ["y:0"], ["x:0"], optimize_functions=False)


def test_a_fed_call_stays() -> None:
    assert_unchanged(calling(NEG), FUN, ["y:0"], ["call:0"], optimize_functions=False)


def test_a_function_that_calls_itself_is_inlined_once() -> None:
    m = Maker()
    define(m, "f", [("a", FLOAT32)], [("r", FLOAT32, "c:r:0")], node("f", "c", "a"))
    m.op("f", "call", m.x())
    m.op("Square", "y", "call", **F)
    after, _ = run_pass(m.graph, FUN, ["y:0"], ["x:0"], meta_optimizer_iterations=1, twice=False)
    assert [n.op for n in after if n.op == "f"] == ["f"]


def test_loops_of_two_calls_keep_their_frames_apart() -> None:
    m = Maker()
    body = [
        node("Const", "zero", dtype=INT32, value=TensorAttr(array=np.array(0, np.int32))),
        node("Enter", "e", "a", frame_name="loop", **F),
        node("Enter", "k", "zero:output:0", frame_name="loop", T=INT32),
        node("Merge", "mk", "k:output:0", "back:output:0", T=INT32, N=2),
        node("Merge", "me", "e:output:0", "twice_back:output:0", N=2, **F),
        node("Const", "two", "^mk", dtype=INT32, value=TensorAttr(array=np.array(2, np.int32))),
        node("Less", "less", "mk:output:0", "two:output:0", T=INT32),
        node("LoopCond", "cond", "less:z:0"),
        node("Switch", "sk", "mk:output:0", "cond:output:0", T=INT32),
        node("Switch", "se", "me:output:0", "cond:output:0", **F),
        node("Const", "one", "^ik", dtype=INT32, value=TensorAttr(array=np.array(1, np.int32))),
        node("Identity", "ik", "sk:output_true:0", T=INT32),
        node("AddV2", "next", "ik:output:0", "one:output:0", T=INT32),
        node("NextIteration", "back", "next:z:0", T=INT32),
        node("AddV2", "twice", "se:output_true:0", "se:output_true:0", **F),
        node("NextIteration", "twice_back", "twice:z:0", **F),
        node("Exit", "out", "se:output_false:0", **F),
    ]
    define(m, "f", [("a", FLOAT32)], [("r", FLOAT32, "out:output:0")], *body)
    m.op("f", "one", m.x())
    m.op("f", "two", "one")
    m.op("AddV2", "y", "one", "two", **F)
    after, _ = run_pass(m.graph, FUN, ["y:0"], ["x:0"])
    assert {n.attrs["frame_name"] for n in after if n.op == "Enter"} == {"one/loop", "two/loop"}
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)


def test_a_body_with_effects_in_a_branch_stays_a_call() -> None:
    """What is outside of a branch cannot wait for what is in it: that may be dead."""
    nodes = [
        node("Const", "p", dtype=BOOL, value=TensorAttr(array=np.array(True))),
        node("Switch", "s", "a", "p:output:0", **F),
        node("Print", "yes", "s:output_true:0", "s:output_true:0", U=[FLOAT32], **F),
        node("Merge", "m", "s:output_false:0", "yes:output:0", N=2, **F),
    ]
    m = calling(*nodes, result="m:output:0", op="StatefulPartitionedCall")
    assert_unchanged(m, FUN, ["y:0"], ["x:0"], optimize_functions=False)


def test_an_argument_out_of_a_branch_is_waited_for_without_a_circle() -> None:
    """An Identity of the same output that waits for the call itself is not what to wait for."""
    m = calling(NEG)
    m.op("Switch", "s", "x", m.x("p", (), BOOL), **F)
    m.graph.set_input(m.graph["call"], 0, (m.graph["s"], 1))
    m.op("Identity", "later", "s:1", controls=["call"], **F)
    m.op("Merge", "m", "s:0", m.op("AddV2", "sum", "y", "later", **F), N=2, **F)
    after, _ = run_pass(m.graph, FUN, ["m:0"], ["x:0", "p:0"])
    for choice in (True, False):
        assert_same_values(m.graph, after, ["m:0"], {**X, "p:0": choice}, exact=True)


def test_nested_calls_are_inlined_as_long_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_budget, "_NODES", 100)
    monkeypatch.setattr(node_budget, "_BY_NODE", 0)
    m = Maker()
    define(m, "F0", [("a", FLOAT32)], [("r", FLOAT32, "n:y:0")], NEG)
    for k in range(1, 6):
        calls = [node(f"F{k - 1}", f"c{j}", f"c{j - 1}:r:0" if j else "a") for j in range(4)]
        define(m, f"F{k}", [("a", FLOAT32)], [("r", FLOAT32, "c3:r:0")], *calls)
    m.op("F5", "call", m.x())
    m.op("Square", "y", "call", **F)
    after, report = run_pass(m.graph, FUN, ["y:0"], ["x:0"], twice=False)
    assert 50 < len(after) < 150
    assert any(one.op in m.graph.functions for one in after)
    assert "too large" in told(report, FUN)


def test_a_long_body_that_cannot_move_is_looked_through_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []
    held = node("VarHandleOp", "v", dtype=FLOAT32, shape=(), shared_name="")
    m = Maker()
    define(m, "f", [("a", FLOAT32)], [("r", FLOAT32, "n:y:0")], NEG, held)
    m.graph.functions["f"].proto.control_ret["v"] = "v"
    for k in range(9):
        m.op("f", f"call{k}", f"call{k - 1}" if k else m.x())
    m.op("Square", "y", "call8", **F)
    found = function_optimization._goes_by_name

    def counted(inner: Node) -> bool:
        looks.append(inner.name)
        return found(inner)

    monkeypatch.setattr(function_optimization, "_goes_by_name", counted)
    after, _ = run_pass(m.graph, FUN, ["y:0"], ["x:0"], meta_optimizer_iterations=1)
    assert sum(one.op == "f" for one in after) in (0, 9)
    assert looks.count("v") <= 2  # once in the graph, once more in the second run
