"""Engines of tcp, unix and shm: messages, tags, back-pressure, losses, and what is no message."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import BadRequest, HostError
from drystone_network import Engine, schemes
from drystone_network.transports.engine import ANY, Happened

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


def joined(one: Engine, other: Engine, address: str) -> tuple[int, int]:
    """The number of the other for ``one``, which listens, and the other way round."""
    peer = other.connect(one.listen(address))
    return until(one, "accepted")[-1].peer, peer


def test_a_message_goes_to_the_receive_of_its_tag(
    engines: tuple[Engine, Engine], address: str
) -> None:
    one, other = engines
    back, there = joined(one, other, address)
    for size in (0, 1, 31, 65_536, 3_000_001):
        data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
        pieces = [data[: size // 3], data[size // 3 :]]
        into = np.zeros(size, np.uint8)
        one.receive(back, TAG, into=into)
        other.send(there, TAG, pieces)
        event = pumped(one, other)
        assert (event.code, event.tag, event.peer) == ("OK", TAG, back)
        assert np.array_equal(into, data)
        assert event.data is not None
        assert event.data.size == size


def pumped(one: Engine, other: Engine, kind: str = "received") -> Happened:
    """The next event of a kind of ``one``, while ``other`` goes on with what it sends."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        other.progress(0)
        for event in one.progress(0.01):
            if event.kind == kind:
                return event
    raise AssertionError(f"nothing was {kind}")


def test_memory_of_the_engine_stays_after_it_is_closed(
    engines: tuple[Engine, Engine], address: str
) -> None:
    one, other = engines
    back, there = joined(one, other, address)
    one.receive(back, TAG)
    other.send(there, TAG, [np.arange(100_000, dtype=np.int32)])
    data = pumped(one, other).data
    assert data is not None
    one.close()
    assert np.array_equal(data.view(np.int32), np.arange(100_000))


def test_tags_are_received_in_any_order_and_each_in_its_own(
    engines: tuple[Engine, Engine], address: str
) -> None:
    one, other = engines
    back, there = joined(one, other, address)
    rng = np.random.default_rng(1)
    tags = rng.integers(0, 50, 5_000)
    for k, tag in enumerate(tags):
        other.send(there, (1, int(tag)), [struct.pack("q", k)])
    found: dict[int, list[int]] = {}
    for tag in rng.permutation(tags):
        one.receive(back, (1, int(tag)))
    for _ in tags:
        event = pumped_of(one, other)
        assert event.data is not None
        found.setdefault(event.tag[1], []).append(struct.unpack("q", event.data.tobytes())[0])
    for tag, numbers in found.items():
        assert numbers == [k for k, t in enumerate(tags) if t == tag]


_WAITING: list[Happened] = []


def pumped_of(one: Engine, other: Engine) -> Happened:
    """As ``pumped``, one at a time of those that come together."""
    while not _WAITING:
        other.progress(0)
        _WAITING.extend(e for e in one.progress(0.01) if e.kind == "received")
    return _WAITING.pop(0)


def test_a_mask_takes_any_tag_and_any_peer(engines: tuple[Engine, Engine], address: str) -> None:
    one, other = engines
    _, there = joined(one, other, address)
    one.receive(0, (5, 0), ((1 << 64) - 1, 0))
    one.receive(0, mask=ANY)
    other.send(there, (4, 3), [b"four"])
    other.send(there, (5, 3), [b"five"])
    first, second = pumped_of(one, other), pumped_of(one, other)
    assert {first.tag, second.tag} == {(4, 3), (5, 3)}


def test_who_does_not_receive_is_not_sent_without_end(
    engines: tuple[Engine, Engine], address: str
) -> None:
    one, _ = engines
    with Engine(address, unexpected_bytes=1 << 20) as slow:
        back, there = joined(slow, one, address)
        data = np.arange(1 << 18, dtype=np.uint8)
        under_way = [token for _ in range(100) if (token := one.send(there, TAG, [data]))]
        end = time.monotonic() + 0.3
        while time.monotonic() < end:  # 25 MB are sent, and 1 MiB may be kept
            slow.progress(0.01)
            under_way = [t for t in under_way if t not in {e.token for e in one.progress(0.01)}]
        assert len(under_way) > 20
        for _ in range(100):
            slow.receive(back, TAG)
        for _ in range(100):
            event = pumped_of(slow, one)
            assert event.data is not None
            assert np.array_equal(event.data, data)


def test_what_was_posted_is_cancelled(engines: tuple[Engine, Engine], address: str) -> None:
    one, other = engines
    back, there = joined(one, other, address)
    token = one.receive(back, TAG)
    one.cancel(token)
    assert until(one, "received")[-1].code == "CANCELLED"
    one.receive(back, TAG)
    other.send(there, TAG, [b"later"])
    event = pumped(one, other)
    assert event.data is not None
    assert event.data.tobytes() == b"later"


def test_a_message_that_is_too_large(engines: tuple[Engine, Engine], address: str) -> None:
    one, other = engines
    back, there = joined(one, other, address)
    one.receive(back, TAG, into=np.zeros(10, np.uint8))
    other.send(there, TAG, [b"x" * 11])
    event = pumped(one, other)
    assert (event.code, event.data) == ("OUT_OF_RANGE", None)
    with Engine(address, max_message=100) as small:
        _, here = joined(one, small, address)
        with pytest.raises(HostError, match="101 bytes is larger than 100") as caught:
            small.send(here, TAG, [b"x" * 101])
        assert caught.value.status == "RESOURCE_EXHAUSTED"
        peer, _ = joined(small, other, address)
        other.send(_, TAG, [b"x" * 101])
        lost = pumped(small, other, "lost")
        assert (lost.peer, lost.code) == (peer, "INVALID_ARGUMENT")


def test_who_is_gone_is_told_of_after_what_it_sent(
    engines: tuple[Engine, Engine], address: str
) -> None:
    one, other = engines
    back, there = joined(one, other, address)
    one.receive(back, TAG)
    one.receive(back, (8, 8))
    other.send(there, TAG, [b"last words"])
    other.close()
    events = until(one, "lost")
    assert [(e.kind, e.code) for e in events] == [
        ("received", "OK"), ("received", "UNAVAILABLE"), ("lost", "UNAVAILABLE"),
    ]  # fmt: skip
    with pytest.raises(HostError, match="there is no such peer"):
        one.send(back, TAG, [b"x"])
    with pytest.raises(HostError, match="there is no such peer"):
        one.receive(back, TAG)


def test_wake_ends_waiting(engines: tuple[Engine, Engine]) -> None:
    one, _ = engines
    one.wake()
    start = time.monotonic()
    assert one.progress(20) == []
    assert time.monotonic() - start < 5


def test_after_fork_an_engine_is_the_parents(engines: tuple[Engine, Engine], address: str) -> None:
    one, other = engines
    back, there = joined(one, other, address)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            other.send(there, TAG, [b"from the child"])
        except HostError as error:
            status = 0 if error.status == "FAILED_PRECONDITION" else 2
        finally:
            other._end()
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    one.receive(back, TAG)
    other.send(there, TAG, [b"from the parent"])
    event = pumped(one, other)
    assert event.data is not None
    assert event.data.tobytes() == b"from the parent"


GREETING = b"drystone-net 01\n"
HEAD = struct.Struct("<IIQQQ")
MAGIC = 0x314E5344


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", None),
        (GREETING + HEAD.pack(MAGIC, 0, 1, 2, 1 << 60), "INVALID_ARGUMENT"),
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
