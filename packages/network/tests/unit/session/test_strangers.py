"""Who connects and does not belong here: he takes little, not for long, and harms nobody."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from clusters import Cluster, endless, free_ports, there_and_back, wait_until

import drystone_base as ds
from drystone_base.core.errors import DrystoneError
from drystone_network import Engine, Server, Task
from drystone_network.workers import links, service
from drystone_network.workers.client import RemoteTask
from drystone_network.workers.links import Links

pytestmark = pytest.mark.tests_in_gate(2)
GREETING = b"drystone-net 01\n"
TASK = Task("worker", 0)


def place(address: str) -> tuple[str, int]:
    """Host and port of an address of either plane."""
    host, _, port = address.rpartition("/")[2].rpartition(":")
    return host.strip("[]"), int(port)


def runs(session: ds.Session) -> bool:
    """Whether the graph gives what it should."""
    return bool(session.run("y:0", {"x:0": 0}) == 0)


def processor_seconds(pid: int) -> float:
    """What a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_a_worker_whose_files_are_all_taken(tmp_path: Path) -> None:
    """Runs go on, nothing turns in circles, and who comes later is let in when there is room."""
    with Cluster(tmp_path, 2, files=160) as cluster, cluster.session(there_and_back()) as session:
        assert runs(session)
        second = cluster.spec.address(Task("worker", 1))
        remote = RemoteTask("w", second, "")
        data = str(remote.ask("status", {}, (), 5)[0]["data"])
        remote.close()
        with ExitStack() as strangers:
            for address in [data] * 200 + [f"grpc://{second}"] * 200:
                with contextlib.suppress(OSError):  # the queue of those who knock is full
                    strangers.enter_context(socket.create_connection(place(address), 0.2))
            assert len(list(Path(f"/proc/{cluster.workers[1].pid}/fd").iterdir())) >= 150
            begun = processor_seconds(cluster.workers[1].pid)
            time.sleep(1)
            assert processor_seconds(cluster.workers[1].pid) - begun < 0.5
            assert runs(session)
            start = time.monotonic()
            with contextlib.suppress(DrystoneError):
                cluster.session(there_and_back(), deadline=2.0).close()
            assert time.monotonic() - start < 10
        assert wait_until(30, lambda: _opens(cluster))


def _opens(cluster: Cluster) -> bool:
    try:
        with cluster.session(there_and_back(), deadline=5.0) as session:
            return runs(session)
    except DrystoneError:
        return False


@pytest.fixture
def pair() -> Iterator[tuple[Server, Server]]:
    """Two tasks in this process, with a token."""
    cluster = {"worker": [f"127.0.0.1:{port}" for port in free_ports(2)]}
    with (
        Server(cluster, "worker", 0, token="right") as first,
        Server(cluster, "worker", 1, token="right") as second,
    ):
        yield first, second


def _is_closed(stranger: socket.socket) -> bool:
    stranger.settimeout(0.01)
    try:
        while stranger.recv(4096):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


@pytest.mark.parametrize("said", [b"", GREETING[:5], GREETING, GREETING + b"DSN1"])
def test_who_proves_nothing_is_let_go(
    said: bytes, pair: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there are many; a task is let in meanwhile."""
    monkeypatch.setattr(links, "_PROOF_SECONDS", 1.0)
    monkeypatch.setenv("DRYSTONE_CLUSTER_TOKEN", "right")
    with ExitStack() as strangers:
        address = place(pair[1]._worker._links.address)
        those = [strangers.enter_context(socket.create_connection(address, 5)) for _ in range(300)]
        for one in those:
            one.sendall(said)
        config = ds.SessionConfig(target=pair[0].target, deadline=20)
        with ds.Session(there_and_back(), config) as session:
            assert runs(session)
        held = 0 if said.startswith(GREETING) else 256  # the others have not begun to speak
        assert wait_until(10, lambda: sum(not _is_closed(one) for one in those) <= held)


def test_who_sends_what_is_large_before_his_proof_is_let_go_at_once(
    pair: tuple[Server, Server],
) -> None:
    links = pair[1]._worker._links
    with Engine("tcp") as stranger:
        for tag in ((1, 2), (2, 0), (2, links.plane.tag ^ 1)):
            peer = stranger.connect(links.address)
            for _ in range(3):
                with contextlib.suppress(DrystoneError):
                    stranger.send(peer, tag, [bytes(1 << 20)])
            until, lost = time.monotonic() + 5, False
            while not lost:
                assert time.monotonic() < until
                lost = any(e.kind == "lost" for e in stranger.progress(0.1))


def test_who_only_says_that_he_is_a_task_is_sent_nothing() -> None:
    """Where a task was, somebody listens who takes any proof, and gives none."""
    with Engine("tcp") as engine:
        address = engine.listen("tcp://127.0.0.1:0")
        ends = threading.Event()

        def serve() -> None:
            while not ends.is_set():
                for event in engine.progress(0.1):
                    if event.kind == "accepted":
                        engine.send(event.peer, (1, 1), [bytes(32)])
                        engine.send(event.peer, (1, 3), [bytes(40)])

        thread = threading.Thread(target=serve)
        thread.start()
        found = Links(Task("worker", 1), "tcp://127.0.0.1:0", "right", lambda _: None)
        try:
            with pytest.raises(DrystoneError) as caught:
                found.connect(TASK, address)
            assert caught.value.code == "cluster-token"
        finally:
            ends.set()
            thread.join()
            found.close()


def test_another_task_at_the_address_of_one_is_sent_nothing() -> None:
    """Such as one that was started with another description of the cluster."""
    nobody = lambda _: None  # noqa: E731
    there = Links(Task("worker", 2), "tcp://127.0.0.1:0", "right", nobody)
    here = Links(Task("worker", 1), "tcp://127.0.0.1:0", "right", nobody)
    try:
        here.connect(Task("worker", 2), there.address)
        with pytest.raises(DrystoneError) as caught:
            here.connect(TASK, there.address)
        assert caught.value.code == "cluster-token"
        assert str(TASK) in caught.value.what
    finally:
        here.close()
        there.close()


# ---- The control plane ---------------------------------------------------------------------------

WRONG = ["", "righ", "right ", "Right", "righT", "rjght", "right\0", "right" * 9, "\N{SNOWMAN}"]


@pytest.mark.parametrize("token", WRONG)
def test_a_token_that_is_wrong_by_little(token: str, pair: tuple[Server, Server]) -> None:
    remote = RemoteTask("w", pair[0].target.removeprefix("grpc://"), token)
    try:
        with pytest.raises(DrystoneError) as caught:
            remote.ask("status", {}, (), 5)
        assert caught.value.code == "cluster-token"
    finally:
        remote.close()
    found = Links(Task("worker", 1), "tcp://127.0.0.1:0", token, lambda _: None)
    try:
        with pytest.raises(DrystoneError) as refused:
            found.connect(TASK, pair[0]._worker._links.address)
        assert refused.value.code == "cluster-token"
    finally:
        found.close()


def test_a_token_of_any_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    token = "schl\u00fcssel \N{SNOWMAN} \udc80"
    monkeypatch.setenv("DRYSTONE_CLUSTER_TOKEN", token)
    cluster = {"worker": [f"127.0.0.1:{port}" for port in free_ports(2)]}
    with Server(cluster, "worker", 0) as first, Server(cluster, "worker", 1):
        config = ds.SessionConfig(target=first.target, deadline=20)
        with ds.Session(there_and_back(), config) as session:
            assert runs(session)


def test_who_has_no_token_sends_his_two_gigabytes_to_nobody(pair: tuple[Server, Server]) -> None:
    """He is answered while he sends."""
    channel = grpc.insecure_channel(pair[0].target.removeprefix("grpc://"))
    sent = [0]

    def request() -> Iterator[bytes]:
        for _ in range(64):
            sent[0] += 1
            yield bytes(32 << 20)

    try:
        answer = channel.stream_unary(service.METHOD + "status")(request(), timeout=20)
        assert b"cluster-token" in answer
        assert sent[0] < 8
    finally:
        channel.close()


@pytest.mark.parametrize("said", [b"", b"PRI * HT"])
def test_who_does_not_begin_to_speak_is_let_go(
    said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dict(service._OF_SERVERS)["grpc.server_handshake_timeout_ms"] == 10_000
    monkeypatch.setattr(service, "_OF_SERVERS", [("grpc.server_handshake_timeout_ms", 500)])
    (port,) = free_ports(1)
    with (
        Server({"worker": [f"127.0.0.1:{port}"]}),
        socket.create_connection(("127.0.0.1", port), 5) as stranger,
    ):
        stranger.sendall(said)
        assert wait_until(10, lambda: _is_closed(stranger))


def test_more_runs_than_there_are_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are too many are refused and wait for nobody, and the others go on."""
    monkeypatch.setattr(service, "_MOST_CALLS", 4)
    (port,) = free_ports(1)
    graph = endless()
    for node in graph:
        graph.set_device(node, "/job:worker/task:0")
    with Server({"worker": [f"127.0.0.1:{port}"]}) as server:
        config = ds.SessionConfig(target=server.target, deadline=3)
        with ds.Session(graph, config) as session:
            ended: list[str] = []

            def work() -> None:
                with pytest.raises(DrystoneError) as caught:
                    session.run("y:0", {"x:0": 1})
                ended.append(caught.value.code)

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)
            assert sorted(ended) == ["deadline-exceeded"] * 4 + ["task-busy"] * 4
        with ds.Session(there_and_back(), ds.SessionConfig(target=server.target)) as session:
            assert runs(session)
