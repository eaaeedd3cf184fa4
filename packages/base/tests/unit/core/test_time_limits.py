"""Limits of what is prepared: nested ones, a run's, and a stage's of its own."""

from __future__ import annotations

import time
import warnings
from typing import Literal

import pytest

from drystone_abi.protos import DataType, FunctionDef
from drystone_base import Graph, KernelError, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.core.time_limits import (
    OutOfTime,
    ends,
    is_over,
    look,
    stage_ends,
    unlimited,
    until,
)
from drystone_base.graph.calls import recursive_functions
from drystone_base.inference.inference import infer
from drystone_base.ops.attrs import FunctionRef
from drystone_base.passes import (
    Grouping,
    PassOptions,
    PassWarning,
    graph_pass,
    registry,
    run_grouping,
)

FLOAT = dtypes.FLOAT32


def test_the_nearest_limit_holds_and_ends_with_its_block() -> None:
    assert ends() is None
    look()
    far, near = time.monotonic() + 1000, time.monotonic() - 1
    with until(far):
        assert ends() == far
        with until(None), until(far + 1):
            assert ends() == far
        with until(near):
            assert is_over()
            with pytest.raises(OutOfTime):
                look()
            with unlimited():
                look()
            with until(far):
                assert ends() == near
        look()
    assert ends() is None


def test_a_stage_has_a_quarter_of_the_run_and_no_more_than_its_own() -> None:
    now = time.monotonic()
    alone = stage_ends(1000)
    assert alone is not None
    assert 60 < alone - now < 62
    assert stage_ends(0, float("inf")) is None
    with until(now + 8):
        part = stage_ends(1000)
        assert part is not None
        assert 1.5 < part - now <= 2.1


def nested(depth: int, width: int, op: str = "PartitionedCall") -> Graph:
    """Functions that each call the one before ``width`` times."""
    graph = Graph()
    for k in range(depth):
        made = FunctionDef()
        made.signature.name = f"F{k}"
        made.signature.input_arg.add(name="x", type=DataType.DT_FLOAT)
        made.signature.output_arg.add(name="y", type=DataType.DT_FLOAT)
        last = "x"
        for w in range(width):
            node = made.node_def.add(name=f"c{w}", op=op if k else "Neg", input=[last])
            if k:
                node.attr["f"].func.name = f"F{k - 1}"
                node.attr["Tin"].list.type.append(DataType.DT_FLOAT)
                node.attr["Tout"].list.type.append(DataType.DT_FLOAT)
                last = f"c{w}:output:0"
            else:
                node.attr["T"].type = DataType.DT_FLOAT
                last = f"c{w}:y:0"
        made.ret["y"] = last
        graph.functions.add(made)
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    types = {"f": FunctionRef(f"F{depth - 1}"), "Tin": [FLOAT], "Tout": [FLOAT]}
    graph.add("PartitionedCall", "y", [x], attrs=types)
    return graph


def test_inference_goes_over_nested_calls_so_often_and_no_oftener() -> None:
    begin = time.process_time()
    infer(nested(12, 10))  # a million million Negs
    assert time.process_time() - begin < 10


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize("optimizer", ["off", "default"])
def test_nested_calls_end_by_the_deadline(
    executor: Literal["native", "reference"], optimizer: str
) -> None:
    config = SessionConfig(deadline=0.5, optimizer=optimizer, executor=executor)
    begin = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the optimizer, where it is there
        with pytest.raises(KernelError) as found:
            Session(nested(9, 10), config).run("y:0", {"x:0": 1.0})
    assert found.value.code == "deadline-exceeded"
    assert time.monotonic() - begin < 10


def test_a_run_is_stopped_while_its_plan_is_made() -> None:
    graph = Graph()
    node = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    for k in range(3):
        node = graph.add("Neg", f"n{k}", [node], attrs={"T": FLOAT})
    session = Session(graph, SessionConfig(deadline=1e-9, optimizer="off"))
    with pytest.raises(KernelError, match="stopped while its plan was made") as found:
        session.run("n2:0", {"x:0": 1.0})
    assert found.value.code == "deadline-exceeded"


def test_a_pass_that_takes_too_long_is_undone() -> None:
    def slow(options: PassOptions) -> None:
        """Makes every Neg an Abs, and goes on."""
        assert options.graph is not None
        for node in options.graph:
            if node.op == "Neg":
                options.graph.set_op(node, "Abs")
        while True:
            look()

    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT})
    graph_pass(Grouping.PRE_PLACEMENT, 3, name="slow")(slow)
    try:
        session = Session(graph, SessionConfig(deadline=2.0, optimizer="off"))
        with pytest.warns(
            PassWarning, match="pass 'slow' of the program does not count.* time was over"
        ):
            assert session.run("y:0", {"x:0": 3.0}) == -3
    finally:
        registry().remove("slow")


def test_functions_that_may_call_themselves_are_found() -> None:
    graph = nested(3, 2)
    none = dict.fromkeys(("F0", "F1", "F2"), False)
    assert recursive_functions(graph.functions, "F2", {}) == none
    assert recursive_functions(graph.functions, "F2", {"F1": True}) == {"F2": True}
    assert recursive_functions(graph.functions, "F2", {"F1": False}) == {"F2": False}
    again = FunctionDef()
    again.CopyFrom(graph.functions["F0"].proto)
    again.node_def[0].op = "F1"
    graph.functions.add(again, replace=True)
    assert recursive_functions(graph.functions, "F2", {}) == dict.fromkeys(none, True)


def test_a_pass_takes_a_row_of_branches_in_one_go() -> None:
    """To look at the whole graph again for each took longer than the deadline."""
    graph = Graph()
    last = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    p = graph.add("Placeholder", "p", attrs={"dtype": dtypes.BOOL, "shape": ()})
    for k in range(600):
        s = graph.add("Switch", f"s{k}", [last, p], attrs={"T": FLOAT})
        yes = graph.add("Neg", f"t{k}", [(s, 1)], attrs={"T": FLOAT})
        last = graph.add("Merge", f"n{k}", [s, yes], attrs={"T": FLOAT, "N": 2})
    options = PassOptions(graph=graph, fetches=["n599:0"], feeds=["x:0", "p:0"])
    run_grouping(Grouping.PRE_PLACEMENT, options, {"FunctionalizeControlFlowPass": True})
    assert sum(node.op == "StatelessIf" for node in graph) == 600
    session = Session(graph, SessionConfig(optimizer="off"))
    assert session.run("n599:0", {"x:0": 3.0, "p:0": True}) == 3
