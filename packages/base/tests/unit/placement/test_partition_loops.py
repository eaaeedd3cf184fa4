"""Loops of frames over several devices: control loops, and parts that give what the whole gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from random_programs.agree import assert_split_agrees, scattered
from random_programs.draw import draw

from drystone_base import Graph, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.graph import Node
from drystone_base.host import available
from drystone_base.ops.attrs import TensorAttr
from drystone_base.placement import everywhere, partition, place

F, T = dtypes.FLOAT32, {"T": dtypes.FLOAT32}
A, B, C = (f"/job:localhost/replica:0/task:0/device:CPU:{k}" for k in range(3))
EXECUTORS = ["reference", *(["native"] if available() else [])]


def number(graph: Graph, name: str, value: float, device: str, after: Sequence[Node] = ()) -> Node:
    attrs = {"dtype": F, "value": TensorAttr(array=np.array(value, np.float32))}
    return graph.add("Const", name, controls=after, attrs=attrs, device=device)


class Loop:
    """A loop that doubles its value while it is below a limit; nodes on ``home``."""

    def __init__(self, graph: Graph, name: str, start: Node, limit: Node, home: str) -> None:
        self.graph, self.name, self.home = graph, name, home
        enter = self.add("Enter", "enter", [start], frame_name=name)
        self.limit = self.add("Enter", "limit", [limit], frame_name=name, is_constant=True)
        self.merge = self.add("Merge", "merge", [enter, enter], N=2)

    def add(
        self, op: str, stem: str, inputs: Sequence[Any], device: str = "", **attrs: Any
    ) -> Node:
        """A node of the loop."""
        stated = {} if op == "LoopCond" else T | attrs
        name = f"{self.name}/{stem}"
        return self.graph.add(op, name, inputs, device=device or self.home, attrs=stated)

    def close(self, step: Any, *, test: str = "") -> Node:
        """``step(loop, value)`` is the value of the next round; ``test``: where it is compared."""
        less = self.add("Less", "less", [self.merge, self.limit], test)
        go = self.add("LoopCond", "go", [less])
        switch = self.add("Switch", "switch", [self.merge, go])
        value = step(self, (switch, 1))
        self.graph.set_input(self.merge, 1, (self.add("NextIteration", "next", [value]), 0))
        return self.add("Exit", "exit", [(switch, 0)])


def doubling(where: str = B, test: str = A) -> Graph:
    """``out`` = 3 doubled until it is 100 or more, the doubling on another device."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": ()}, device=A)
    loop = Loop(graph, "loop", x, number(graph, "bound", 100, C), A)
    out = loop.close(lambda lp, v: lp.add("AddV2", "double", [v, v], where), test=test)
    graph.add("Neg", "out", [out], attrs=T, device=B)
    return graph


def nested() -> Graph:
    """In each round of a loop on A another one on B, whose body is on C."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": ()}, device=A)
    bound = number(graph, "bound", 200, B)

    def inner(outer: Loop, value: Any) -> Node:
        kept = outer.add("Identity", "kept", [value], A)
        limit = outer.add("AddV2", "more", [value, value], B)
        loop = Loop(graph, "inner", kept, limit, B)
        ended = loop.close(lambda lp, v: lp.add("AddV2", "step", [v, lp.limit], C))
        return outer.add("AddV2", "sum", [ended, value], C)

    out = Loop(graph, "outer", x, bound, A).close(inner)
    graph.add("Identity", "out", [out], attrs=T, device=C)
    return graph


def on(graph: Graph, executor: Any, count: int = 3) -> Session:
    config = SessionConfig(
        executor=executor, device_count={"CPU": count}, optimizer="off", deadline=30
    )
    return Session(graph, config)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("test", [A, B, C])
@pytest.mark.parametrize("where", [A, B, C])
def test_a_loop_over_devices_gives_what_it_gives_on_one(
    where: str, test: str, executor: Any
) -> None:
    """Row H26. S3-cross-device-loops."""
    session = on(doubling(where, test), executor)
    for value in (3, 100, 60):
        want = Session(doubling(), SessionConfig(optimizer="off")).run("out:0", {"x:0": value})
        assert session.run("out:0", {"x:0": value}) == want


@pytest.mark.parametrize("executor", EXECUTORS)
def test_loops_in_loops_over_devices(executor: Any) -> None:
    """Row H26. S3-cross-device-loops."""
    session = on(nested(), executor)
    plain = Session(nested(), SessionConfig(optimizer="off"))
    for value in (1, 3, 500):
        assert session.run("out:0", {"x:0": value}) == plain.run("out:0", {"x:0": value})


def test_each_device_of_a_loop_makes_its_rounds() -> None:
    """Row H26. S3-cross-device-loops: one control loop a device; only A decides."""
    parts = partition(doubling())
    sources = {(t.source, t.sender, t.receiver) for t in parts.transfers}
    assert ("loop/go:0", A, B) in sources
    assert ("loop/switch:1", A, B) in sources
    assert ("loop/double:0", B, A) in sources
    counts = {device: Counter(n.op for n in graph) for device, graph in parts.graphs.items()}
    assert (counts[B]["Enter"], counts[B]["Exit"], counts[B]["LoopCond"]) == (1, 1, 1)
    assert (counts[A]["Enter"], counts[A]["Exit"], counts[A]["LoopCond"]) == (3, 2, 1)
    assert counts[C] == {"Const": 1, "_Send": 1}
    go = next(n for n in parts.graphs[B] if n.op == "LoopCond")
    assert go.inputs[0][0].op == "_Recv"
    received = next(n for n in parts.graphs[B] if n.name == "loop/double").inputs[0][0]
    assert "loop/rounds/pivot" in [c.name for c in received.controls]


def test_a_loop_on_one_device_gets_no_control_loop() -> None:
    parts = partition(doubling(A))
    assert [t.source for t in parts.transfers] == ["bound:0", "loop/exit:0"]
    assert not any("rounds" in n.name for graph in parts.graphs.values() for n in graph)


def test_what_goes_round_stays_on_one_device() -> None:
    """The placer keeps Enter, Merge, Switch and Exit of a value together, and bodies apart."""
    graph = doubling()
    for node in graph:
        if node.name not in ("loop/double", "x"):
            graph.set_device(node, "")
    placed = place(graph, [A, B, C], everywhere(["CPU"])).devices
    where = {node.name: device for node, device in placed.items()}
    assert where["loop/double"] == B
    assert len({where[f"loop/{n}"] for n in ("enter", "merge", "next")}) == 1
    assert where["loop/exit"] == where["loop/switch"]


def test_a_failure_in_a_round_ends_all_parts() -> None:
    graph = doubling()
    check = graph.add("CheckNumerics", "check", [(graph["loop/double"], 0)],
                      attrs=T | {"message": "too large"}, device=B)  # fmt: skip
    graph.set_inputs(graph["loop/next"], [(check, 0)])
    session = on(graph, "reference")
    assert session.run("out:0", {"x:0": 3}) == -192
    with pytest.raises(Exception, match="node 'check'"):
        session.run("out:0", {"x:0": -np.inf})


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("seed", range(100, 120))
def test_random_programs_with_every_node_somewhere(seed: int, executor: Any) -> None:
    """S3-cross-device-loops: split at random, a program gives what it gives on one device."""
    program = draw(seed)
    assert_split_agrees(program, scattered(program, seed, 1.0), executor)


def test_what_ends_a_round_stays_with_what_waits_for_it() -> None:
    """A ControlTrigger runs in every round, after the body: nobody elsewhere may wait for it."""
    graph = doubling()
    trigger = graph.add("ControlTrigger", "sync", controls=[graph["loop/double"]], device=C)
    graph.set_controls(graph["loop/next"], [trigger])
    session = on(graph, "reference")
    assert session.run("out:0", {"x:0": 3}) == -192
    where = {d.node: d.device for d in session.placement(["out:0"], ["x:0"])}
    assert where["sync"] == where["loop/next"]
