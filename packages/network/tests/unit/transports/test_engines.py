"""Engines of our transports: what is no message, and what cannot be done."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import BadRequest, HostError
from drystone_network import Engine, schemes
from drystone_network.transports.engine import Happened

TAG = (7, 9)


def until(engine: Engine, kind: str, seconds: float = 10.0) -> list[Happened]:
    """What happens until something of a kind has, that last."""
    found: list[Happened] = []
    end = time.monotonic() + seconds
    while not (found and found[-1].kind == kind):
        assert time.monotonic() < end, found
        for event in engine.progress(0.2):
            found.append(event)
            if event.kind == kind:
                break
    return found


def pumped(one: Engine, other: Engine, kind: str = "received") -> Happened:
    """The next event of a kind of ``one``, while ``other`` goes on with what it sends."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        other.progress(0)
        for event in one.progress(0.01):
            if event.kind == kind:
                return event
    raise AssertionError(f"nothing was {kind}")


GREETING = b"drystone-net 01\n"
HEAD = struct.Struct("<IIQQQ")
MAGIC = 0x314E5344


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", None),
        (GREETING + HEAD.pack(MAGIC, 0, 1, 2, 1 << 60), "INVALID_ARGUMENT"),
        (GREETING + HEAD.pack(MAGIC, 0, 1, 2, 1 << 63), "INVALID_ARGUMENT"),
        (GREETING + HEAD.pack(MAGIC, 0, 1, 2, (1 << 64) - 1), "INVALID_ARGUMENT"),
        (GREETING + HEAD.pack(MAGIC + 1, 0, 1, 2, 3) + b"abc", "INVALID_ARGUMENT"),
        (GREETING + HEAD.pack(MAGIC, 1, 1, 2, 3) + b"abc", "INVALID_ARGUMENT"),
        (GREETING + HEAD.pack(MAGIC, 0, 1, 2, 3) + b"ab", "DATA_LOSS"),
        (GREETING + HEAD.pack(MAGIC, 0, 1, 2, 3)[:17], "DATA_LOSS"),
        (GREETING[:-3], None),
        (b"", None),
    ],
)
def test_what_is_no_message_ends_the_connection_alone(said: bytes, code: str | None) -> None:
    with Engine("tcp", max_message=1 << 20) as one, Engine("tcp") as other:
        bound = one.listen("tcp://127.0.0.1:0")
        host, port = bound.removeprefix("tcp://").split(":")
        with socket.create_connection((host, int(port))) as raw:
            raw.sendall(said)
        events = one.progress(0.3)
        events += one.progress(0.1)
        lost = [e.code for e in events if e.kind == "lost"]
        assert lost == ([code] if code else [])
        there = other.connect(bound)
        back = until(one, "accepted")[-1].peer
        one.receive(back, TAG)
        other.send(there, TAG, [b"still here"])
        assert pumped(one, other).code == "OK"


def test_random_bytes_do_no_harm() -> None:
    rng = np.random.default_rng(5)
    with Engine("tcp", max_message=1 << 16) as one:
        host, port = one.listen("tcp://127.0.0.1:0").removeprefix("tcp://").split(":")
        for _ in range(60):
            heads = HEAD.pack(MAGIC, 0, 1, 2, int(rng.integers(0, 99))) * int(rng.integers(0, 3))
            said = bytearray(GREETING + heads + rng.bytes(int(rng.integers(0, 300))))
            for _ in range(int(rng.integers(0, 4))):
                said[int(rng.integers(0, len(said)))] = int(rng.integers(0, 256))
            with socket.create_connection((host, int(port))) as raw:
                raw.sendall(bytes(said))
            one.progress(0.01)
        assert not one.closed


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (lambda e: e.listen("tcp://127.0.0.1"), "INVALID_ARGUMENT"),
        (lambda e: e.listen("tcp://127.0.0.1:99999"), "INVALID_ARGUMENT"),
        (lambda e: e.listen("unix:///tmp/x"), "INVALID_ARGUMENT"),
        (lambda _: Engine("unix").listen(f"unix:///{'x' * 107}"), "INVALID_ARGUMENT"),
        (lambda _: Engine("unix").connect(f"unix://@{'x' * 107}"), "INVALID_ARGUMENT"),
        (lambda _: Engine("shm").listen(f"shm://{'x' * 107}"), "INVALID_ARGUMENT"),
        (lambda e: e.listen(e.listen("tcp://127.0.0.1:0")), "ALREADY_EXISTS"),
        (lambda e: e.connect("tcp://127.0.0.1:1"), "UNAVAILABLE"),
        (lambda e: e.connect("tcp://no-such-host.invalid:1"), "NOT_FOUND"),
        (lambda e: e.send(12345, TAG, [b"x"]), "NOT_FOUND"),
    ],
)
def test_what_cannot_be_done_says_so(call: Callable[[Engine], Any], status: str) -> None:
    with Engine("tcp") as engine:
        with pytest.raises(HostError) as caught:
            call(engine)
        assert caught.value.status == status
        assert engine.listen("tcp://127.0.0.1:0").startswith("tcp://127.0.0.1:")


def test_a_scheme_that_nobody_carries() -> None:
    assert {"tcp", "unix", "shm"} <= set(schemes())
    with pytest.raises(BadRequest, match=r"no transport carries messages to 'pigeon://'") as caught:
        Engine("pigeon")
    assert caught.value.code == "unknown-transport"
