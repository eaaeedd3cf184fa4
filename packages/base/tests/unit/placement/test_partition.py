"""Row H26: splitting graphs over devices, and running the parts beside each other."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from random_programs.agree import assert_split_agrees, scattered
from random_programs.draw import draw

from drystone_base import Graph, GraphError, KernelError, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.host import available
from drystone_base.ops.attrs import TensorAttr
from drystone_base.placement import everywhere, partition, place

F = dtypes.FLOAT32
A, B = (f"/job:localhost/replica:0/task:0/device:CPU:{k}" for k in range(2))
EXECUTORS = ["reference", *(["native"] if available() else [])]


def sample() -> Graph:
    """y = -(x + c) on B, read three times on A; ``last`` on A waits for ``quiet`` on B."""
    graph = Graph()
    t = {"T": F}
    c = graph.add("Const", "c", attrs={"dtype": F, "value": TensorAttr(array=np.float32([1, 2]))},
                  device=A)  # fmt: skip
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": None}, device=B)
    total = graph.add("AddV2", "total", [x, c], attrs=t, device=B)
    y = graph.add("Neg", "y", [total], attrs=t, device=B)
    twice = graph.add("AddV2", "twice", [y, y], attrs=t, device=A)
    quiet = graph.add("NoOp", "quiet", controls=[y], device=B)
    graph.add("Mul", "last", [twice, y], attrs=t, device=A, controls=[quiet])
    graph.add("NoOp", "end", controls=[quiet, twice], device=A)
    return graph


def test_a_value_is_sent_once_to_a_device() -> None:
    parts = partition(sample())
    assert list(parts.graphs) == [A, B]
    assert [(t.source, t.sender, t.receiver) for t in parts.transfers] == [
        ("c:0", A, B), ("y:0", B, A), ("^quiet", B, A),
    ]  # fmt: skip
    for device, graph in parts.graphs.items():
        counts = Counter(node.op for node in graph)
        assert counts["_Send"] == len(parts.sends[device])
        assert {node.device for node in graph} == {device}
    keys = [[n.attr("tensor_name") for n in graph if n.op in ("_Send", "_Recv")]
            for graph in parts.graphs.values()]  # fmt: skip
    assert sorted(keys[0]) == sorted(keys[1])


def test_a_control_edge_becomes_an_empty_tensor() -> None:
    parts = partition(sample())
    (send,) = [n for n in parts.graphs[B] if n.op == "_Send" and n.inputs[0][0].op == "Const"]
    sent = send.inputs[0][0]
    assert sent.attr("value").array.size == 0
    assert [c.name for c in sent.controls] == ["quiet"]
    (waited,) = parts.graphs[A]["last"].controls
    assert (waited.op, waited.inputs[0][0].op) == ("Identity", "_Recv")


def test_an_uncut_graph_stays_whole() -> None:
    graph = sample()
    for node in graph:
        graph.set_device(node, A)
    parts = partition(graph)
    assert parts.transfers == []
    assert [n.name for n in parts.graphs[A]] == [n.name for n in graph]


def test_only_what_is_needed_is_kept() -> None:
    graph = sample()
    parts = partition(graph, [graph[name] for name in ("c", "x", "total")])
    assert [t.source for t in parts.transfers] == ["c:0"]
    assert "y" not in parts.graphs[B]


def on_two(graph: Graph, executor: Any, **more: Any) -> Session:
    config = SessionConfig(
        executor=executor, device_count={"CPU": 2}, optimizer="off", deadline=30, **more
    )
    return Session(graph, config)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_parts_give_what_the_whole_gives(executor: Any) -> None:
    """Row H1. S3-pipeline."""
    session = on_two(sample(), executor)
    for _ in range(3):
        last, end, y = session.run(["last:0", "end", "y:0"], {"x:0": [1, 1]})
        assert (last.tolist(), end, y.tolist()) == ([8, 18], None, [-2, -3])
    assert session.run("last:0", {"y:0": [1, 2]}).tolist() == [2, 8]
    assert session.run("c:0").tolist() == [1, 2]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_failure_ends_all_parts_and_the_session_goes_on(executor: Any) -> None:
    session = on_two(sample(), executor)
    with pytest.raises(KernelError, match="node 'total'"):
        session.run("last:0", {"x:0": [1, 1, 1]})
    assert session.run("last:0", {"x:0": [1, 1]}).tolist() == [8, 18]


def test_decisions_can_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    graph = sample()
    session = on_two(graph, "reference", log_device_placement=True)
    found = session.placement(["last:0"], ["x:0"])
    assert {d.node: d.device for d in found}["total"] == B
    assert f"total: (AddV2): {B}  asked for" in capsys.readouterr().err


def test_a_device_that_is_not_there() -> None:
    graph = sample()
    graph.set_device(graph["y"], "/gpu:0")
    assert on_two(graph, "reference").run("y:0", {"x:0": [1, 1]}).tolist() == [-2, -3]
    with pytest.raises(GraphError, match="node 'y' asks for a device that is not there"):
        on_two(graph, "reference", allow_soft_placement=False).run("y:0", {"x:0": [1, 1]})


@pytest.mark.parametrize("executor", EXECUTORS)
def test_one_device_is_placed_on_where_that_can_be_seen(
    executor: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """To tell of decisions, and where a device that is not there is an error."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": F, "shape": (2,)})
    graph.add("Neg", "y", [x], attrs={"T": F}, device="/gpu:0")
    told = SessionConfig(executor=executor, log_device_placement=True)
    assert Session(graph, told).run("y:0", {"x:0": [1, 2]}).tolist() == [-1, -2]
    assert f"y: (Neg): {A}" in capsys.readouterr().err
    hard = SessionConfig(executor=executor, allow_soft_placement=False)
    with pytest.raises(GraphError) as caught:
        Session(graph, hard).run("y:0", {"x:0": [1, 2]})
    assert caught.value.code == "no-such-device"
    graph.set_device(graph["y"], "/cpu:0")
    assert Session(graph, hard).run("y:0", {"x:0": [1, 2]}).tolist() == [-1, -2]


def test_receiving_what_nobody_sends() -> None:
    parts = partition(sample())
    recv = next(n for n in parts.graphs[B] if n.op == "_Recv")
    with pytest.raises(KernelError) as caught:
        Session(parts.graphs[B]).run(f"{recv.name}:0")
    assert caught.value.render() == (
        "node 'c/recv_0' (_Recv) would wait for ever [queue-would-block]\n"
        "  check: what is received must be sent in the same run, before\n"
        "  found: nothing was sent as 'edge_0_c:0'\n"
        "  needed: the part of the graph with the _Send\n"
        "  remedy: run the graph as it was before it was split"
    )


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("seed", range(25))
def test_random_programs_over_random_devices(seed: int, executor: Any) -> None:
    """Split at random over three devices, a program gives what it gives on one."""
    program = draw(seed)
    assert_split_agrees(program, scattered(program, seed, 0.7), executor)


@pytest.mark.parametrize("seed", range(30, 50))
def test_one_recv_for_each_send_and_nothing_is_sent_twice(seed: int) -> None:
    graph = scattered(draw(seed), seed, 1.0)
    names = [f"/job:localhost/replica:0/task:0/device:CPU:{k}" for k in range(3)]
    place(graph, names, everywhere(["CPU"]), soft=True).apply()
    parts = partition(graph)
    keys: dict[str, Counter[str]] = {"_Send": Counter(), "_Recv": Counter()}
    for device, part in parts.graphs.items():
        assert part.functions is graph.functions
        for node in part:
            if node.op in keys:
                keys[node.op][node.attrs["tensor_name"]] += 1
                end = "send_device" if node.op == "_Send" else "recv_device"
                assert node.attrs[end] == node.device == device
                assert node.attrs["send_device_incarnation"] == 1
    assert keys["_Send"] == keys["_Recv"] == Counter(t.key for t in parts.transfers)
    assert set(keys["_Send"].values()) <= {1}
    routes = [(t.source, t.receiver) for t in parts.transfers]
    assert len(set(routes)) == len(routes)
