"""What goes wrong between tasks ends the run in time, everywhere, and says where."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import numpy as np
import pytest
from clusters import Cluster, endless, free_ports, there_and_back, wait_until

import drystone_base as ds
from drystone_base.core.errors import BadRequest, DrystoneError, HostError, KernelError
from drystone_network import ClusterSpec, Server, Task
from drystone_network.workers import worker
from drystone_network.workers.client import RemoteTask
from drystone_network.workers.service import METHOD, TOKEN, token_sent
from drystone_network.workers.wire import pack

ONE = Task("worker", 1)
HELPERS = Path(__file__).parents[2]


@contextmanager
def running(
    session: ds.Session, cancellation: ds.Cancellation | None = None
) -> Iterator[list[DrystoneError]]:
    """An endless run on another thread; how it ended."""
    ended: list[DrystoneError] = []

    def work() -> None:
        try:
            session.run("y:0", {"x:0": 1}, cancellation=cancellation)
        except DrystoneError as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert wait_until(20, lambda: len(session._prepared) > 0)
    time.sleep(0.2)  # until the request has come to the tasks
    assert thread.is_alive(), ended
    yield ended
    thread.join(20)
    assert not thread.is_alive()


def test_a_worker_that_is_killed_in_a_step(shared_cluster: Cluster) -> None:
    """The run ends within two seconds; others go on, and a new worker takes the place."""
    cluster = shared_cluster
    session = cluster.session(endless())
    with running(session) as ended:
        start = time.monotonic()
        cluster.kill(1)
        assert wait_until(5, lambda: ended)
    assert time.monotonic() - start < 2
    error = ended[0]
    assert isinstance(error, HostError)
    assert error.code == "task-lost", error
    assert str(ONE) in error.what
    assert f"'exit:0' from {ONE.device()} to {Task('worker', 0).device()}" in error.found
    cluster.workers[1].wait()
    with pytest.raises(DrystoneError) as caught:
        session.run("y:0", {"x:0": 1})
    assert caught.value.code in ("task-lost", "task-unreachable")
    cluster.workers[1] = cluster.start(1)
    assert cluster.session(there_and_back()).run("y:0", {"x:0": 0}) == 0
    with pytest.raises(BadRequest) as refused:
        session.run("y:0", {"x:0": 1})
    assert refused.value.code == "session-lost"


def test_a_worker_that_stands_still(shared_cluster: Cluster) -> None:
    """The deadline ends the run, and the error says who is silent and what was waited for."""
    cluster = shared_cluster
    session = cluster.session(there_and_back(), deadline=2.0)
    assert session.run("y:0", {"x:0": 0}) == 0
    cluster.kill(1, signal.SIGSTOP)
    start = time.monotonic()
    try:
        with pytest.raises(KernelError) as caught:
            session.run("y:0", {"x:0": 0})
    finally:  # the cluster is that of other tests, too
        cluster.kill(1, signal.SIGCONT)
    assert time.monotonic() - start < 6
    assert caught.value.code == "deadline-exceeded"
    assert f"not yet done: {ONE}" in caught.value.found
    assert wait_until(10, lambda: _runs(session))


def _runs(session: ds.Session) -> bool:
    try:
        return bool(session.run("y:0", {"x:0": 0}) == 0)
    except DrystoneError:
        return False


CLIENT = """
import sys
sys.path[:0] = [{tests!r}]
from clusters import endless
import drystone_base as ds
session = ds.Session(endless(), ds.SessionConfig(target={target!r}))
print("open", flush=True)
session.run("y:0", {{"x:0": 1}})
"""


def test_a_client_that_is_killed_leaves_no_run_behind() -> None:
    one, two = free_ports(2)
    spec = ClusterSpec({"worker": [f"127.0.0.1:{one}", f"127.0.0.1:{two}"]})
    with Server(spec, "worker", 0) as first, Server(spec, "worker", 1) as second:
        program = CLIENT.format(tests=str(HELPERS), target=first.target)
        client = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        runs = [server._worker._steps._open for server in (first, second)]
        try:
            assert wait_until(60, lambda: all(runs))
        finally:
            client.kill()
            client.communicate()
        assert wait_until(5, lambda: not any(runs))
        with ds.Session(there_and_back(), ds.SessionConfig(target=first.target)) as session:
            assert session.run("y:0", {"x:0": 0}) == 0


def test_a_run_is_cancelled_on_all_tasks(shared_cluster: Cluster) -> None:
    with shared_cluster.session(endless()) as session:
        cancellation = ds.Cancellation()
        with running(session, cancellation) as ended:
            start = time.monotonic()
            cancellation.cancel()
            assert wait_until(5, lambda: ended)
        assert time.monotonic() - start < 2
        assert ended[0].code == "run-cancelled"
        assert "not yet done" in ended[0].what
        _assert_idle(shared_cluster)


def test_the_deadline_ends_a_run_on_all_tasks(shared_cluster: Cluster) -> None:
    with shared_cluster.session(endless(), deadline=1.0) as session:
        with pytest.raises(KernelError) as caught:
            session.run("y:0", {"x:0": 1})
        assert caught.value.code == "deadline-exceeded"
        _assert_idle(shared_cluster)


def _assert_idle(cluster: Cluster) -> None:
    """The workers run another graph, which they could not if all their threads were taken."""
    with cluster.session(there_and_back()) as session:
        assert session.run("y:0", {"x:0": 0}) == 0


# ---- Who is let in -------------------------------------------------------------------------------


@pytest.fixture
def guarded() -> Iterator[Server]:
    """A task with a token, in this process."""
    (port,) = free_ports(1)
    with Server({"worker": [f"127.0.0.1:{port}"]}, token="right") as server:
        yield server


def test_a_client_without_the_token(guarded: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for token in ("", "wrong"):
        monkeypatch.setenv("DRYSTONE_CLUSTER_TOKEN", token)
        with pytest.raises(BadRequest, match="refuses the token") as caught:
            ds.Session(there_and_back(), ds.SessionConfig(target=guarded.target, deadline=5))
        assert caught.value.code == "cluster-token"
    monkeypatch.setenv("DRYSTONE_CLUSTER_TOKEN", "right")
    ds.Session(there_and_back(), ds.SessionConfig(target=guarded.target, deadline=5)).close()


def test_requests_that_are_none(guarded: Server) -> None:
    remote = RemoteTask("w", guarded.target.removeprefix("grpc://"), "right")
    given = ((TOKEN, token_sent("right")),)
    rng = np.random.default_rng(4)
    good = pack({"session": "x", "handle": 1, "step": 1, "seconds": None}, [np.zeros(3)])
    try:
        for method in ("status", "open", "register", "run", "cancel", "close", "reset", "steal"):
            call = remote._channel.unary_unary(METHOD + method)
            for _ in range(20):
                bad = bytearray(good)
                for _ in range(int(rng.integers(1, 6))):
                    bad[int(rng.integers(0, len(bad)))] = int(rng.integers(0, 256))
                call(bytes(bad), metadata=given, timeout=5)
            with pytest.raises(BadRequest) as caught:
                remote.read(call(b"\xff" * 9, metadata=given, timeout=5))
            assert caught.value.code == "bad-frame"
        for document in ({}, {"session": 1}, {"session": [], "parts": 3}):
            for method in ("register", "run"):
                with pytest.raises(DrystoneError):
                    remote.ask(method, document, (), 5)
        assert remote.ask("status", {}, (), 5)[0]["protocol"] == worker.PROTOCOL
        with pytest.raises(grpc.RpcError):
            remote._channel.unary_unary("/other/service")(b"", timeout=5)
    finally:
        remote.close()


def test_a_worker_has_an_access_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client's session may read is nothing to the worker."""
    file = tmp_path / "secret.txt"
    file.write_text("secret")
    graph = ds.Graph()
    string = ds.as_dtype("string")
    name = graph.add("Placeholder", "name", attrs={"dtype": string, "shape": ()})
    graph.add("ReadFile", "read", [name])
    feeds = {"name:0": str(file).encode()}
    client = ds.Access.nothing().with_read(tmp_path)
    for access, may in ((None, False), (client, True)):
        (port,) = free_ports(1)
        with Server({"worker": [f"127.0.0.1:{port}"]}, access=access) as server:
            config = ds.SessionConfig(target=server.target, deadline=10, access=client)
            with ds.Session(graph, config) as session:
                if may:
                    assert session.run("read:0", feeds) == b"secret"
                    continue
                with pytest.raises(KernelError) as caught:
                    session.run("read:0", feeds)
                assert caught.value.code == "access-denied"


def test_an_address_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadRequest) as caught:
            Server(ClusterSpec({"worker": [f"127.0.0.1:{port}"]}))
        assert caught.value.code == "address-in-use"
