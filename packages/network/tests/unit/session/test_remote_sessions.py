"""Sessions with a target: what several tasks compute is what one process computes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clusters import FLOAT, A, B, Parts, free_ports, there_and_back

import drystone_base as ds
from drystone_base.core.errors import BadRequest, KernelError
from drystone_base.ops.attrs import TensorAttr
from drystone_base.placement import everywhere, place
from drystone_network import ClusterSpec, Server, reset

HERE = Path(__file__).parent


@pytest.fixture(scope="module", params=["tcp", "shm"])
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """A cluster of two tasks in this process, the second with two devices."""
    one, two = free_ports(2)
    spec = ClusterSpec({"worker": [f"127.0.0.1:{one}", f"127.0.0.1:{two}"]})
    how = {"transport": request.param}
    with Server(spec, "worker", 0, **how) as first, Server(spec, "worker", 1, devices=2, **how):
        yield first.target


def on(graph: ds.Graph, target: str, **settings: Any) -> ds.Session:
    """A session whose graph runs there."""
    return ds.Session(graph, ds.SessionConfig(target=target, **({"deadline": 20} | settings)))


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_parts_on_two_tasks_give_what_one_process_gives(target: str, executor: str) -> None:
    graph = there_and_back()
    with on(graph, target, executor=executor) as session:
        where = {d.node: d.device for d in session.placement(["y:0"], ["x:0"])}
        assert where["m"] == "/job:worker/replica:0/task:1/device:CPU:0"
        for shape in ((), (3,), (0, 2), (300, 400)):
            x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
            here = ds.Session(graph, ds.SessionConfig(executor=executor))
            want = here.run(["y:0", "m:0"], {"x:0": x})
            got = session.run(["y:0", "m:0"], {"x:0": x})
            assert all(map(np.array_equal, got, want))
        with pytest.raises(BadRequest, match="variables of a session with a target"):
            _ = session.variables


def test_runs_from_several_threads(target: str) -> None:
    with on(there_and_back(), target) as session:
        want = {k: np.tanh(np.float32(k)) * 3 + np.tanh(np.float32(k)) for k in range(8)}
        wrong: list[Any] = []

        def work(k: int) -> None:
            for _ in range(5):
                got = session.run("y:0", {"x:0": k})
                if not np.isclose(got, want[k], rtol=1e-6):
                    wrong.append((k, got))

        threads = [threading.Thread(target=work, args=(k,)) for k in want]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def counter() -> ds.Graph:
    """A variable on the second task, read and added to from the first."""
    g = Parts()
    attrs = {"dtype": FLOAT, "shape": (), "shared_name": "count", "container": "box"}
    handle = g.graph.add("VarHandleOp", "v", device=B, attrs=attrs)
    kind = {"dtype": FLOAT}
    zero = g.constant("zero", B, 0.0)
    g.graph.add("AssignVariableOp", "init", [handle, zero], device=B, attrs=kind)
    step = g.op("Mul", "step", A, g.feed("x", A, ()), g.constant("two", A, 2.0))
    add = g.graph.add("AssignAddVariableOp", "add", [handle, step], device=B, attrs=kind)
    read = g.graph.add("ReadVariableOp", "read", [handle], device=B, attrs=kind, controls=[add])
    g.op("Neg", "y", A, read)
    return g.graph


def test_variables_live_on_their_task_and_outlive_sessions(target: str) -> None:
    with on(counter(), target) as session:
        assert session.run("init") is None
        assert session.run("y:0", {"x:0": 1.5}) == -3
        assert session.run("y:0", {"x:0": 1}) == -5
    with on(counter(), target) as session:
        assert session.run("y:0", {"x:0": 0}) == -5
    reset(target, ["other"])
    with on(counter(), target) as session:
        assert session.run("y:0", {"x:0": 0}) == -5
    reset(target, ["box"])
    with (
        on(counter(), target) as session,
        pytest.raises(KernelError, match="count"),
    ):
        session.run("y:0", {"x:0": 0})


def test_strings_and_control_edges_go_to_other_tasks(target: str) -> None:
    g = Parts()
    string = ds.as_dtype("string")
    words = {"dtype": string, "value": TensorAttr(array=np.array([b"a", b"bc"], object))}
    first = g.graph.add("Const", "w", device=A, attrs=words)
    join = {"N": 2, "separator": "-"}
    g.graph.add("StringJoin", "y", [first, first], device=B, attrs=join, controls=[g.feed("x", A)])
    with on(g.graph, target, optimizer="off") as session:
        assert session.run("y:0", {"x:0": 1}).tolist() == [b"a-a", b"bc-bc"]


@pytest.mark.cases_in_gate(2)
@pytest.mark.parametrize("seed", range(200, 208))
def test_random_programs_over_tasks(seed: int, target: str) -> None:
    """Loops, branches, dead values, state and failures among them."""
    from random_programs.agree import outcome, same, scattered
    from random_programs.draw import draw

    reset(target)
    program = draw(seed)
    graph = scattered(program, seed, 0.7)
    here = [f"/job:localhost/replica:0/task:0/device:CPU:{k}" for k in range(3)]
    place(graph, here, everywhere(["CPU"]), soft=True).apply()
    there = dict(zip(here, [f"{A}/cpu:0", f"{B}/cpu:0", f"{B}/cpu:1"], strict=True))
    for node in graph:
        graph.set_device(node, there[node.device])
    plain = ds.SessionConfig(optimizer="off", device_count={"CPU": 3}, deadline=30)
    split = ds.Session(scattered(program, seed, 0.7), plain)
    with on(graph, target, optimizer="off", deadline=30) as session:
        for fetches, feeds in program.runs:
            want, got = outcome(split, fetches, feeds), outcome(session, fetches, feeds)
            if not isinstance(want, list):
                assert not isinstance(got, list)
                assert got.status == want.status
                return
            if not isinstance(got, list) and got.code == "cannot-send":
                return  # a list of tensors, which is a value in one process alone
            assert isinstance(got, list), got
            for name, one, other in zip(fetches, want, got, strict=True):
                assert same(one, other, exact=name not in program.inexact), name


def test_a_failure_on_a_task_is_the_error_of_the_run(target: str) -> None:
    g = Parts()
    check = g.op("CheckNumerics", "check", B, g.feed("x", A), message="no")
    g.op("Neg", "y", A, check)
    with on(g.graph, target) as session:
        with pytest.raises(KernelError, match="node 'check'") as caught:
            session.run("y:0", {"x:0": np.nan})
        assert caught.value.details["drystone/task"] == "/job:worker/replica:0/task:1"
        assert session.run("y:0", {"x:0": 2}) == -2


def test_a_device_that_no_task_has(target: str) -> None:
    g = Parts()
    g.op("Neg", "y", "/job:worker/task:7", g.feed("x", A))
    with on(g.graph, target, allow_soft_placement=False) as session:
        with pytest.raises(ds.GraphError) as caught:
            session.run("y:0", {"x:0": 2})
        assert caught.value.code == "no-such-device"
    with on(g.graph, target) as session:
        assert session.run("y:0", {"x:0": 2}) == -2


@pytest.mark.parametrize(
    ("given", "code"),
    [("127.0.0.1:1", "bad-target"), ("http://a:1", "bad-target"), ("grpc://a", "bad-target"),
     ("grpc://127.0.0.1:1", "task-unreachable")],
)  # fmt: skip
def test_targets_that_lead_nowhere(given: str, code: str) -> None:
    with pytest.raises(ds.DrystoneError) as caught:
        ds.Session(there_and_back(), ds.SessionConfig(target=given, deadline=1))
    assert caught.value.code == code
