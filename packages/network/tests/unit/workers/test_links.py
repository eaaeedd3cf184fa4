"""Connections between tasks that end before they are links."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from drystone_base.core.errors import DrystoneError
from drystone_network.cluster.spec import Task
from drystone_network.transports.engine import Engine
from drystone_network.workers.links import Links


@pytest.fixture
def hangs_up() -> Iterator[str]:
    """The address of one who ends each connection at once."""
    engine = Engine("tcp://127.0.0.1:0")
    address = engine.listen("tcp://127.0.0.1:0")
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            for event in engine.progress():
                if event.kind == "accepted":
                    engine.disconnect(event.peer)

    thread = threading.Thread(target=serve)
    thread.start()
    yield address
    stop.set()
    engine.wake()
    thread.join()
    engine.close()


@pytest.mark.parametrize("late", [0.0, 0.3])
def test_a_connection_that_ends_before_it_is_known_is_an_error_at_once(
    hangs_up: str, late: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = Task("worker", 0), Task("worker", 1)
    links = Links(mine, "tcp://127.0.0.1:0", "token", lambda _: None)
    try:
        connect = links._engine.connect

        def connected_late(address: str) -> int:
            peer = connect(address)
            time.sleep(late)  # its end is told meanwhile
            return peer

        monkeypatch.setattr(links._engine, "connect", connected_late)
        begin = time.monotonic()
        with pytest.raises(DrystoneError):
            links.connect(other, hangs_up)
        assert time.monotonic() - begin < 5
    finally:
        links.close()
