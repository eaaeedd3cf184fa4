"""Workers and engines of an earlier version, as their bytes on the wire were."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc
import pytest
from clusters import free_ports, there_and_back, wait_until

import drystone_base as ds
from drystone_base.core.errors import BadRequest
from drystone_network import Engine
from drystone_network.workers.worker import PROTOCOL

STATUS_1: Final = (
    b"\xd7\x00\x00\x00\x00\x00\x00\x00"
    b'[{"protocol":1,"task":["worker",0],"devices":["/job:worker/replica:0/task:0/device:CPU:0"],'
    b'"data":"tcp://127.0.0.1:40001","cluster":"{\\"worker\\": {\\"0\\": \\"127.0.0.1:40000\\"}}",'
    b'"incarnation":3391182047155241857},[]]' + bytes(33)
)
"""What a worker of protocol 1 (commit e6cbef9f) answered to `status`; only ports differ."""


class _Old(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """Answers as it did, whatever is asked."""

    def __init__(self, port: int) -> None:
        self.answer = STATUS_1.replace(b"127.0.0.1:40000", f"127.0.0.1:{port:05}".encode())

    def service(self, details: Any) -> Any:
        assert details.method == "/drystone.network.Worker/status"
        return grpc.unary_unary_rpc_method_handler(lambda *_: self.answer)


@pytest.fixture
def old_worker() -> Iterator[str]:
    """The target that leads to one."""
    (port,) = free_ports(1)
    server = grpc.server(ThreadPoolExecutor(2), [_Old(port)])
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    yield f"grpc://127.0.0.1:{port}"
    server.stop(0)


def test_a_worker_of_an_earlier_version(old_worker: str) -> None:
    with pytest.raises(BadRequest) as caught:
        ds.Session(there_and_back(), ds.SessionConfig(target=old_worker, deadline=10))
    assert caught.value.code == "cluster-version"
    assert "/job:worker/replica:0/task:0" in caught.value.what
    assert (caught.value.found, caught.value.needed) == ("version 1", f"version {PROTOCOL}")


def _is_let_go(engine: Engine, stranger: socket.socket) -> bool:
    engine.progress(0.05)
    try:
        return not stranger.recv(64)
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize(
    "said",
    [b"drystone\x00\x00\x00\x00\x00\x00\x00\x00", b"DSN0" + bytes(60), b"GET / HTTP/1.1\r\n\r\n"],
    ids=["another version", "no greeting", "another protocol"],
)
def test_an_engine_that_greets_otherwise_is_let_go(said: bytes) -> None:
    """And the next one is welcome."""
    with Engine("tcp") as engine, Engine("tcp") as other:
        address = engine.listen("tcp://127.0.0.1:0")
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        with socket.create_connection((host, int(port)), timeout=5) as stranger:
            stranger.sendall(said)
            stranger.settimeout(0.05)
            assert wait_until(5, lambda: _is_let_go(engine, stranger))
        peer = other.connect(address)
        engine.receive(tag=(1, 1))
        other.send(peer, (1, 1), [b"hello"])
        events: list[Any] = []
        while not any(e.kind == "received" for e in events):
            events += engine.progress(1)
        assert events[-1].data is not None
        assert events[-1].data.tobytes() == b"hello"
