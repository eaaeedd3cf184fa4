"""Branches over several devices: dead values are sent and received as dead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_programs.agree import assert_split_agrees, scattered
from random_programs.draw import draw

from drystone_base import BadRequest, Graph, GraphError, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.graph import Node
from drystone_base.graph.deadness import ALIVE, Deadness, Received, Round
from drystone_base.graph.topology import DEAD_WITH
from drystone_base.host import available
from drystone_base.ops.attrs import TensorAttr
from drystone_base.placement import everywhere, partition, place

F, T = dtypes.FLOAT32, {"T": dtypes.FLOAT32}
A, B, C = (f"/job:localhost/replica:0/task:0/device:CPU:{k}" for k in range(3))
EXECUTORS = ["reference", *(["native"] if available() else [])]


def number(graph: Graph, name: str, value: float, device: str) -> Node:
    attrs = {"dtype": F, "value": TensorAttr(array=np.array(value, np.float32))}
    return graph.add("Const", name, attrs=attrs, device=device)


def branches(inside: Any = None) -> Graph:
    """``out`` = x + 1 on B where p, else -x on C; the Switch is on A, the Merge on B.

    ``inside(graph, value)`` gives another node for the side that is taken where p.
    """
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": ()}, device=A)
    p = graph.add("Placeholder", "p", attrs={"dtype": dtypes.BOOL, "shape": ()}, device=A)
    switch = graph.add("Switch", "switch", [x, p], attrs=T, device=A)
    one = graph.add("AddV2", "more", [(switch, 1), number(graph, "one", 1, C)], attrs=T, device=B)
    other = graph.add("Neg", "less", [(switch, 0)], attrs=T, device=C)
    taken = one if inside is None else inside(graph, one)
    merge = graph.add("Merge", "merge", [taken, other], attrs=T | {"N": 2}, device=B)
    graph.add("Identity", "out", [merge], attrs=T, device=A)
    graph.add("Identity", "side", [(merge, 1)], attrs={"T": dtypes.INT32}, device=C)
    return graph


def rounds(graph: Graph, value: Node) -> Node:
    """A loop in the branch: doubled on C until it is 100 or more, the loop itself on B."""

    def add(op: str, name: str, inputs: Any, device: str = B, **attrs: Any) -> Node:
        stated = {} if op == "LoopCond" else T | attrs
        return graph.add(op, name, inputs, device=device, attrs=stated)

    pivot = graph.add("Identity", "pivot", [value], attrs=T, device=B)
    bound = number(graph, "bound", 100, B)
    graph.set_controls(bound, [pivot])
    enter = add("Enter", "enter", [value], frame_name="loop")
    limit = add("Enter", "limit", [bound], frame_name="loop", is_constant=True)
    merge = add("Merge", "round", [enter, enter], N=2)
    go = add("LoopCond", "go", [add("Less", "below", [merge, limit], C)])
    gate = add("Switch", "gate", [merge, go])
    twice = add("AddV2", "twice", [(gate, 1), (gate, 1)], C)
    graph.set_input(merge, 1, (add("NextIteration", "next", [twice]), 0))
    return add("Exit", "exit", [(gate, 0)])


def on(graph: Graph, executor: Any) -> Session:
    config = SessionConfig(executor=executor, device_count={"CPU": 3}, optimizer="off", deadline=30)
    return Session(graph, config)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("inside", [None, rounds])
def test_either_side_is_taken_on_other_devices(inside: Any, executor: Any) -> None:
    session = on(branches(inside), executor)
    plain = Session(branches(inside), SessionConfig(optimizer="off"))
    for value, taken in [(3, True), (3, False), (3, True), (500, True), (-1, False)]:
        feeds = {"x:0": value, "p:0": taken}
        want = plain.run(["out:0", "side:0"], feeds)
        assert session.run(["out:0", "side:0"], feeds) == want
        assert session.run("out", feeds) == want[0]


def test_values_of_one_side_die_together() -> None:
    parts = partition(branches())
    found = {
        t.source: node.attrs.get(DEAD_WITH)
        for t in parts.transfers
        for node in parts.graphs[t.receiver]
        if node.op == "_Recv" and node.attrs["tensor_name"] == t.key
    }
    assert found["switch:1"] != found["switch:0"] == found["less:0"]
    assert None not in (found["switch:1"], found["switch:0"])
    assert [found[name] for name in ("one:0", "merge:0", "merge:1")] == [None] * 3
    ends = [n for graph in parts.graphs.values() for n in graph if n.states(DEAD_WITH)]
    assert sorted({n.op for n in ends}) == ["_Recv", "_Send"]
    assert len(ends) == 6


def test_what_comes_after_a_dead_value_waits_for_a_trigger() -> None:
    """A control edge from what may be dead would make the next transfer dead."""
    for graph in partition(branches()).graphs.values():
        for node in graph:
            if node.op in ("_Send", "_Recv"):
                assert not any(c.op == "_Recv" and c.states(DEAD_WITH) for c in node.controls)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_dead_value_is_dead_for_who_fetches_it_elsewhere(executor: Any) -> None:
    graph = branches()
    graph.add("Neg", "far", [graph["more"]], attrs=T, device=C)
    session = on(graph, executor)
    assert session.run("far:0", {"x:0": 1, "p:0": True}) == -2
    with pytest.raises(BadRequest) as caught:
        session.run("far:0", {"x:0": 1, "p:0": False})
    assert caught.value.code == "dead-fetch"
    assert session.run("far:0", {"x:0": 2, "p:0": True}) == -3


@pytest.mark.parametrize("executor", EXECUTORS)
def test_who_waits_for_a_dead_node_elsewhere_is_dead(executor: Any) -> None:
    graph = branches()
    after = graph.add("Identity", "after", [graph["one"]], controls=[graph["more"]], attrs=T,
                      device=C)  # fmt: skip
    merge = graph.add("Merge", "either", [after, graph["less"]], attrs=T | {"N": 2}, device=A)
    graph.add("Identity", "which", [(merge, 1)], attrs={"T": dtypes.INT32}, device=B)
    session = on(graph, executor)
    assert session.run("which:0", {"x:0": 4, "p:0": True}) == 0
    assert session.run("which:0", {"x:0": 4, "p:0": False}) == 1


def test_what_is_received_may_be_dead_for_passes_too() -> None:
    part = partition(branches()).graphs[B]
    deadness = Deadness(part)
    when = deadness.of(part["more"])
    assert {type(p) for p in when} == {Received}
    assert deadness.of(part["merge"]) != ALIVE
    received = next(n for n in part if n.op == "_Recv" and n.attrs.get(DEAD_WITH))
    assert deadness.of(received) == when


def in_part() -> Graph:
    """A loop whose counter always enters, and whose value only where p."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": ()}, device=A)
    p = graph.add("Placeholder", "p", attrs={"dtype": dtypes.BOOL, "shape": ()}, device=A)
    some = graph.add("Switch", "some", [x, p], attrs=T, device=A)

    def variable(name: str, start: Any) -> Node:
        attrs = T | {"frame_name": "loop"}
        enter = graph.add("Enter", f"{name}/enter", [start], attrs=attrs)
        return graph.add("Merge", f"{name}/merge", [enter, enter], attrs=T | {"N": 2})

    count, value = variable("count", number(graph, "zero", 0, A)), variable("value", (some, 1))
    attrs = T | {"frame_name": "loop", "is_constant": True}
    limit = graph.add("Enter", "limit", [number(graph, "two", 2, A)], attrs=attrs)
    less = graph.add("Less", "less", [count, limit], attrs=T)
    go = graph.add("LoopCond", "go", [less])
    for merge in (count, value):
        name = merge.name.split("/")[0]
        gate = graph.add("Switch", f"{name}/gate", [merge, go], attrs=T)
        step = graph.add("AddV2", f"{name}/step", [(gate, 1), limit], attrs=T)
        back = graph.add("NextIteration", f"{name}/next", [step], attrs=T)
        graph.set_input(merge, 1, (back, 0))
        graph.add("Exit", f"{name}/exit", [(gate, 0)], attrs=T)
    graph.add("Neg", "far", [graph["value/exit"]], attrs=T)
    return graph


def test_what_may_never_come_out_of_a_loop_stays_on_its_device() -> None:
    """A value that enters dead is not even dead when the loop ends: nobody could be told."""
    graph = in_part()
    when = Deadness(graph).of(graph["far"])
    assert any(isinstance(p, Round) and p.variable is not None for p in when)
    placed = place(graph, [A, B, C], everywhere(["CPU"])).devices
    assert placed[graph["far"]] == placed[graph["value/exit"]]
    graph.set_device(graph["far"], C)
    graph.set_device(graph["value/exit"], B)
    with pytest.raises(GraphError, match="must run on one device"):
        place(graph, [A, B, C], everywhere(["CPU"]))


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("seed", [64, 331, *range(200, 228)])
def test_random_programs_with_nearly_every_node_somewhere(seed: int, executor: Any) -> None:
    """Branches and loops in one another, split at random: what one device gives."""
    program = draw(seed)
    assert_split_agrees(program, scattered(program, seed, 0.9), executor)
