"""LowerFunctionalOpsPass: what it makes of If, Case and While, and what it leaves alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import FunctionDef
from drystone_base import Graph, KernelError, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.graph import Node
from drystone_base.host import available
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr
from drystone_base.passes import Grouping, PassOptions, run_grouping

NAME = "LowerFunctionalOpsPass"
INT = dtypes.INT32
EXECUTORS = ["reference", *(["native"] if available() else [])]


def _constant(made: FunctionDef, value: np.ndarray[Any, Any]) -> None:
    node = made.node_def.add(name="k", op="Const")
    node.attr["dtype"].CopyFrom(encode_attr(dtypes.from_numpy(value.dtype)))
    node.attr["value"].CopyFrom(encode_attr(TensorAttr(array=value)))


def function(graph: Graph, name: str, op: str, other: int, out: Any = INT) -> FunctionRef:
    """A function of one int32: ``op`` of it and a constant."""
    made = FunctionDef()
    made.signature.name = name
    made.signature.input_arg.add(name="x", type=INT.number)
    made.signature.output_arg.add(name="y", type=out.number)
    _constant(made, np.array(other, np.int32))
    node = made.node_def.add(name="r", op=op, input=["x", "k:output:0"])
    node.attr["T"].CopyFrom(encode_attr(INT))
    made.ret["y"] = "r:z:0"
    graph.functions.add(made)
    return FunctionRef(name)


def number(graph: Graph, name: str, value: int) -> Node:
    attrs = {"dtype": INT, "value": TensorAttr(array=np.array(value, np.int32))}
    return graph.add("Const", name, attrs=attrs)


def branching(op: str = "If") -> Graph:
    """``chosen`` = x + 10 or x * 10, x - 1 for a third branch; ``after`` waits for it."""
    graph = Graph()
    choice = graph.add("Placeholder", "choice", attrs={"dtype": INT, "shape": ()})
    x = number(graph, "x", 5)
    before = graph.add("NoOp", "before")
    functions = [
        function(graph, "mul", "Mul", 10),
        function(graph, "add", "AddV2", 10),
        function(graph, "sub", "Sub", 1),
    ]
    types: dict[str, Any] = {"Tin": [INT], "Tout": [INT]}
    if op.endswith("If"):
        types |= {"Tcond": INT, "then_branch": functions[1], "else_branch": functions[0]}
    else:
        types["branches"] = functions
    chosen = graph.add(op, "chosen", [choice, x], controls=[before], device="/cpu:0", attrs=types)
    graph.add("NoOp", "after", controls=[chosen])
    return graph


def looping(op: str = "While") -> Graph:
    """``out`` doubles 3 until it is 100 or more."""
    graph = Graph()
    attrs = {
        "T": [INT],
        "cond": function(graph, "below", "Less", 100, dtypes.BOOL),
        "body": function(graph, "double", "Mul", 2),
    }
    graph.add(op, "out", [number(graph, "x", 3)], attrs=attrs)
    return graph


def lowered(graph: Graph, settings: Any = True, feeds: list[str] | None = None) -> Graph:
    graph = graph.copy()
    options = PassOptions(graph=graph, feeds=feeds or [])
    run_grouping(Grouping.PRE_PLACEMENT, options, {NAME: settings})
    return graph


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("op", ["If", "StatelessIf", "Case", "StatelessCase"])
def test_branches_give_the_same(op: str, executor: Any) -> None:
    graph = branching(op)
    plain = Session(graph, SessionConfig(executor=executor))
    changed = Session(graph, SessionConfig(executor=executor, passes={NAME: True}))
    for choice in (0, 1, 2, 7, -1):
        fetches, feeds = ["chosen:0", "after"], {"choice:0": choice}
        assert changed.run(fetches, feeds) == plain.run(fetches, feeds)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("op", ["While", "StatelessWhile"])
def test_loops_give_the_same(op: str, executor: Any) -> None:
    config = SessionConfig(executor=executor, passes={NAME: True})
    assert Session(looping(op), config).run("out:0") == 192


def test_an_if_becomes_switches_calls_and_merges() -> None:
    """Row H12. S3-lower."""
    graph = lowered(branching())
    counts = Counter(node.op for node in graph)
    assert (counts["Switch"], counts["Merge"], counts["StatefulPartitionedCall"]) == (2, 2, 2)
    assert (graph["chosen"].op, graph["chosen"].device) == ("Identity", "/cpu:0")
    assert {n.device for n in graph if n.name.startswith("chosen/")} == {"/cpu:0"}
    assert lowered(graph).to_bytes() == graph.to_bytes()


def test_a_while_becomes_one_frame() -> None:
    """Row H12. S3-lower."""
    graph = lowered(looping("StatelessWhile"))
    counts = Counter(node.op for node in graph)
    assert all(counts[op] == 1 for op in ("Enter", "Merge", "LoopCond", "NextIteration", "Exit"))
    assert counts["PartitionedCall"] == 2
    enter = next(node for node in graph if node.op == "Enter")
    assert (enter.attr("frame_name"), enter.attr("parallel_iterations")) == ("out", 10)


def test_a_branch_not_taken_does_nothing() -> None:
    graph = Graph()
    made = FunctionDef()
    made.signature.name = "refuses"
    _constant(made, np.array(False))
    check = made.node_def.add(name="check", op="Assert", input=["k:output:0", "k:output:0"])
    check.attr["T"].CopyFrom(encode_attr([dtypes.BOOL]))
    made.control_ret["check"] = "check"
    made.signature.control_output.append("check")
    graph.functions.add(made)
    empty = FunctionDef()
    empty.signature.name = "nothing"
    graph.functions.add(empty)
    choice = graph.add("Placeholder", "choice", attrs={"dtype": INT, "shape": ()})
    attrs = {
        "Tcond": INT, "Tin": [], "Tout": [],
        "then_branch": FunctionRef("refuses"), "else_branch": FunctionRef("nothing"),
    }  # fmt: skip
    graph.add("If", "chosen", [choice], attrs=attrs)
    session = Session(graph, SessionConfig(passes={NAME: True}))
    assert session.run("chosen", {"choice:0": 0}) is None
    with pytest.raises(KernelError, match="node 'check'"):
        session.run("chosen", {"choice:0": 1})


@pytest.mark.parametrize(("mark", "settings", "want"), [
    (None, True, True), (False, True, False), (True, True, True),
    (None, {"marked_only": True}, False), (True, {"marked_only": True}, True),
])  # fmt: skip
def test_marks(mark: bool | None, settings: Any, want: bool) -> None:
    graph = branching()
    if mark is not None:
        graph.set_attr(graph["chosen"], "_lower_using_switch_merge", mark)
    assert (lowered(graph, settings)["chosen"].op == "Identity") is want


def test_a_fed_node_is_left_alone() -> None:
    graph = branching()
    assert lowered(graph, feeds=["chosen:0"]).to_bytes() == graph.to_bytes()
