"""FunctionalizeControlFlowPass: what becomes If, Case and While, what stays, and the way back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from random_programs.draw import draw
from random_programs.passes import differences

from drystone_base import Graph, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.graph import Node
from drystone_base.host import available
from drystone_base.ops.attrs import TensorAttr
from drystone_base.passes import Grouping, PassOptions, run_grouping

NAME = "FunctionalizeControlFlowPass"
LOWER = "LowerFunctionalOpsPass"
FLOAT = dtypes.FLOAT32
T = {"T": FLOAT}
FRAMES = {"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"}
EXECUTORS = ["reference", *(["native"] if available() else [])]


def functional(graph: Graph, fetches: Sequence[str] = (), feeds: Sequence[str] = ()) -> Graph:
    graph = graph.copy()
    options = PassOptions(graph=graph, fetches=fetches, feeds=feeds)
    run_grouping(Grouping.PRE_PLACEMENT, options, {NAME: True})
    return graph


def counts(graph: Graph) -> Counter[str]:
    return Counter(node.op for node in graph)


def number(graph: Graph, name: str, value: float, controls: Any = ()) -> Node:
    attrs = {"dtype": FLOAT, "value": TensorAttr(array=np.array(value, np.float32))}
    return graph.add("Const", name, controls=controls, attrs=attrs)


def branching() -> Graph:
    """``chosen`` = -(x) or x * 2 + 1, ``sign`` = 0 or 1; both by p."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    p = graph.add("Placeholder", "p", attrs={"dtype": dtypes.BOOL, "shape": ()})
    before = graph.add("NoOp", "before")
    switch = graph.add("Switch", "switch", [x, p], controls=[before], attrs=T)
    pivot = graph.add("Identity", "pivot", [(switch, 1)], attrs=T)
    negative = graph.add("Neg", "negative", [(switch, 0)], attrs=T)
    double = graph.add("AddV2", "double", [(switch, 1), (switch, 1)], attrs=T)
    more = graph.add("AddV2", "more", [double, number(graph, "one", 1, [pivot])], attrs=T)
    graph.add("Merge", "chosen", [negative, more], attrs=T | {"N": 2})
    zero = graph.add("Switch", "zero", [number(graph, "nought", 0), p], attrs=T)
    unity = graph.add("Switch", "unity", [number(graph, "ace", 1), p], attrs=T)
    graph.add("Merge", "sign", [(zero, 0), (unity, 1)], attrs=T | {"N": 2})
    return graph


def looping(*, constant: bool = True) -> Graph:
    """``out`` doubles x until it is at least the limit."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    frame = T | {"frame_name": "loop", "parallel_iterations": 7}
    enter = graph.add("Enter", "enter", [x], attrs=frame)
    limit = graph.add("Enter", "limit", [number(graph, "bound", 100)], attrs=frame | {
        "is_constant": constant})  # fmt: skip
    merge = graph.add("Merge", "merge", [enter, enter], attrs=T | {"N": 2})
    less = graph.add("Less", "less", [merge, limit], attrs=T)
    go = graph.add("LoopCond", "go", [less])
    switch = graph.add("Switch", "switch", [merge, go], attrs=T)
    double = graph.add("AddV2", "double", [(switch, 1), (switch, 1)], attrs=T)
    back = graph.add("NextIteration", "back", [double], attrs=T)
    graph.set_input(merge, 1, (back, 0))
    graph.add("Exit", "out", [(switch, 0)], attrs=T)
    return graph


@pytest.mark.parametrize("executor", EXECUTORS)
def test_values_stay(executor: Any) -> None:
    """Row H17. S3-functionalize."""
    config = SessionConfig(executor=executor, passes={NAME: True}, optimizer="off")
    session = Session(branching(), config)
    for p, want in ((True, [7, 1]), (False, [-3, 0])):
        assert session.run(["chosen:0", "sign:0"], {"x:0": 3, "p:0": p}) == want
    assert session.run(["chosen:0", "chosen:1"], {"x:0": 3, "p:0": True}) == [7, 1]
    assert Session(looping(), config).run("out:0", {"x:0": 3}) == 192


def test_branches_of_one_choice_become_one_if() -> None:
    """Row H17. S3-functionalize."""
    graph = functional(branching(), ["chosen:0", "sign:0"], ["x:0", "p:0"])
    assert FRAMES.isdisjoint(node.op for node in graph)
    (made,) = [node for node in graph if node.op == "StatelessIf"]
    assert [c.name for c in made.controls] == ["before"]
    assert made.attr("Tout") == [FLOAT, dtypes.INT32, FLOAT, dtypes.INT32]
    then = graph.functions[made.attr("then_branch").name]
    assert sorted(then.ops()) == ["AddV2", "AddV2", "Const", "Const", "Const", "Identity"]
    assert functional(graph).to_bytes() == graph.to_bytes()


def test_a_loop_becomes_a_while() -> None:
    """Row H17. S3-functionalize."""
    graph = functional(looping(), ["out:0"], ["x:0"])
    assert counts(graph) == {"Placeholder": 1, "Const": 1, "StatelessWhile": 1, "Identity": 1}
    made = graph["loop"]
    assert made.attr("parallel_iterations") == 7
    assert sorted(graph.functions[made.attr("cond").name].ops()) == ["Less"]
    assert functional(graph).to_bytes() == graph.to_bytes()


@pytest.mark.parametrize("inside", ["double", "merge", "switch"])
def test_a_loop_with_something_fed_inside_stays(inside: str) -> None:
    graph = looping()
    assert functional(graph, ["out:0"], [f"{inside}:0"]).to_bytes() == graph.to_bytes()


def test_a_loop_whose_value_never_comes_round_stays() -> None:
    graph = looping(constant=False)  # the limit is there in the first round only
    found = functional(graph, ["out:0"], ["x:0"])
    assert found.to_bytes() == graph.to_bytes()


def test_a_loop_that_something_gets_out_of_but_by_an_exit_stays() -> None:
    graph = looping()
    graph.add("Neg", "late", [(graph["switch"], 0)], attrs=T)
    assert functional(graph).to_bytes() == graph.to_bytes()


def test_a_loop_that_does_not_end_when_told_to_stays() -> None:
    graph = looping()
    graph.set_inputs(graph["double"], [(graph["merge"], 0)] * 2)
    assert functional(graph).to_bytes() == graph.to_bytes()


def test_a_loop_that_fails_in_a_round_that_is_not_made_stays() -> None:
    graph = looping()
    graph.add("Assert", "check", [graph["less"], graph["merge"]], attrs={"T": [FLOAT]})
    graph.set_controls(graph["double"], [graph["check"]])
    assert functional(graph).to_bytes() == graph.to_bytes()


@pytest.mark.parametrize("inside", ["more", "pivot", "negative"])
def test_a_branch_with_something_fetched_inside_stays(inside: str) -> None:
    graph = branching()
    for name in ("sign", "zero", "unity", "nought", "ace"):
        graph.remove(graph[name])
    assert functional(graph, ["chosen:0", f"{inside}:0"], ["x:0", "p:0"]).to_bytes() == (
        graph.to_bytes()
    )


def test_a_merge_of_two_choices_stays() -> None:
    graph = branching()
    other = graph.add("Placeholder", "q", attrs={"dtype": dtypes.BOOL, "shape": ()})
    for name in ("zero", "unity"):
        graph.set_input(graph[name], 1, (other if name == "zero" else graph["p"], 0))
    found = functional(graph)
    assert (found["sign"].op, found["chosen"].op) == ("Merge", "Identity")


def test_what_has_an_effect_stays_where_others_wait_for_it() -> None:
    graph = branching()
    attrs = {"T": [FLOAT]}
    graph.add("Print", "said", [graph["double"], graph["double"]], attrs=T | {"U": [FLOAT]})
    graph.set_input(graph["more"], 0, (graph["said"], 0))
    graph.add("IdentityN", "late", [graph["said"]], attrs=attrs)
    assert functional(graph)["chosen"].op == "Merge"


def test_no_match_is_the_same_bytes() -> None:
    graph = Graph()
    number(graph, "a", 1)
    assert functional(graph).to_bytes() == graph.to_bytes()


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    """Row H17. S3-functionalize."""
    assert not differences(draw(seed), {NAME: True})


@pytest.mark.parametrize("seed", range(40, 60))
def test_random_programs_lowered_and_back(seed: int) -> None:
    """Row H17. S3-functionalize."""
    assert not differences(draw(seed), {LOWER: True, NAME: True})
