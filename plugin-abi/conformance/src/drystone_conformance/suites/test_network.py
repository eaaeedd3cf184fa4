"""Network transports: what is sent comes, whole, in order and once, whatever becomes of peers."""

from __future__ import annotations

import multiprocessing
import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import HostError
from drystone_base.modules import stage
from drystone_conformance.plugin import needs
from drystone_conformance.subject import Subject

pytestmark = pytest.mark.module("network")

TAG = (7, 9)
EVERY = (0, 0)
SECONDS = 60.0
Open = Callable[..., Any]


def make_engine(address: str, **options: Any) -> Any:
    """An engine of the transport; the package for networks provides it."""
    (make,) = stage("engine")
    return make(address, **options)


@pytest.fixture
def address(subject: Subject, transport: str) -> str:
    """Where engines of a test listen: an address that leaves port or name open."""
    given = subject.roots.get(transport)
    if given is not None:
        return given
    with make_engine(f"{transport}://") as engine:
        try:
            engine.listen(f"{transport}://")
        except HostError:
            return f"{transport}://127.0.0.1:0"
    return f"{transport}://"


@pytest.fixture
def engines(address: str) -> Iterator[Open]:
    """``engines(**options)`` opens one more engine, which is closed in the end."""
    made: list[Any] = []

    def open_one(**options: Any) -> Any:
        made.append(make_engine(address, **options))
        return made[-1]

    yield open_one
    for one in made:
        one.close()


def until(one: Any, kind: str, *others: Any, seconds: float = SECONDS) -> list[Any]:
    """What happens to one engine until something of a kind has, while the others go on."""
    found: list[Any] = []
    end = time.monotonic() + seconds
    while not any(event.kind == kind for event in found):
        assert time.monotonic() < end, f"no {kind} within {seconds:g} seconds, but {found}"
        for other in others:
            other.progress(0)
        found += one.progress(0.01 if others else 0.2)
    return found


def joined(one: Any, other: Any, address: str) -> tuple[int, int]:
    """The number of the other for ``one``, which listens, and the other way round."""
    there = other.connect(one.listen(address))
    (event,) = (e for e in until(one, "accepted", other) if e.kind == "accepted")
    return event.peer, there


def received(one: Any, other: Any, count: int, seconds: float = SECONDS) -> list[Any]:
    """So many messages, in the order in which they came."""
    found: list[Any] = []
    while len(found) < count:
        events = until(one, "received", other, seconds=seconds)
        found += [e for e in events if e.kind == "received"]
    return found


@pytest.mark.parametrize("size", [0, 1, 4096, 1 << 20, 64 << 20])
def test_a_message_comes_as_it_went(engines: Open, address: str, size: int) -> None:
    one, other = engines(), engines()
    back, there = joined(one, other, address)
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    into = np.zeros(size, np.uint8)
    one.receive(back, TAG, into=into)
    other.send(there, TAG, [data[: size // 3], data[size // 3 :]])
    (event,) = received(one, other, 1)
    assert (event.code, event.tag, event.peer) == ("OK", TAG, back)
    assert np.array_equal(into, data)
    one.receive(back, TAG)
    other.send(there, TAG, [data])
    (event,) = received(one, other, 1)
    one.close()
    assert np.array_equal(event.data, data), "the engine's memory outlives it"


@pytest.mark.skipif(
    os.environ.get("DRYSTONE_CONFORMANCE_LARGE") != "1",
    reason="takes 5 GiB of memory: DRYSTONE_CONFORMANCE_LARGE=1 sends it",
)
def test_two_gibibytes(engines: Open, address: str) -> None:
    """And a byte: a size that no signed number of 32 bits holds goes whole."""
    one, other = engines(), engines()
    back, there = joined(one, other, address)
    size = (2 << 30) + 1
    data = np.empty(size, np.uint8)
    data[:] = 7
    data[:: 1 << 20] = np.arange(len(data[:: 1 << 20])) % 251
    into = np.zeros(size, np.uint8)
    one.receive(back, TAG, into=into)
    other.send(there, TAG, [data[: size // 3], data[size // 3 :]])
    (event,) = received(one, other, 1, 600)
    assert (event.code, event.tag, event.peer) == ("OK", TAG, back)
    assert np.array_equal(into, data)


def test_many_small_messages(engines: Open, address: str) -> None:
    one, other = engines(), engines()
    back, there = joined(one, other, address)
    numbers: list[int] = []
    for begin in range(0, 100_000, 1_000):
        for k in range(begin, begin + 1_000):
            one.receive(back, TAG)
            other.send(there, TAG, [struct.pack("q", k)])
        numbers += [int(e.data.view(np.int64)[0]) for e in received(one, other, 1_000)]
    assert numbers == list(range(100_000))


def test_tags_out_of_order(engines: Open, address: str) -> None:
    one, other = engines(), engines()
    back, there = joined(one, other, address)
    rng = np.random.default_rng(1)
    tags = rng.integers(0, 50, 3_000)
    for k, tag in enumerate(tags):
        other.send(there, (1, int(tag)), [struct.pack("q", k)])
    for tag in rng.permutation(tags):
        one.receive(back, (1, int(tag)))
    found: dict[int, list[int]] = {}
    for event in received(one, other, len(tags)):
        found.setdefault(event.tag[1], []).append(int(event.data.view(np.int64)[0]))
    for tag, numbers in found.items():
        assert numbers == [k for k, one_of in enumerate(tags) if one_of == tag]


def test_masks(engines: Open, address: str) -> None:
    one, other = engines(), engines()
    _, there = joined(one, other, address)
    one.receive(0, (5, 0), ((1 << 64) - 1, 0))
    one.receive(0, mask=EVERY)
    other.send(there, (4, 3), [b"four"])
    other.send(there, (5, 3), [b"five"])
    found = {event.tag: event.data.tobytes() for event in received(one, other, 2)}
    assert found == {(4, 3): b"four", (5, 3): b"five"}


def test_a_slow_reader_is_waited_for(engines: Open, address: str) -> None:
    slow, fast = engines(unexpected_bytes=1 << 20), engines()
    back, there = joined(slow, fast, address)
    data = np.arange(1 << 18, dtype=np.uint8)
    under_way = {token for _ in range(100) if (token := fast.send(there, TAG, [data]))}
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        slow.progress(0.01)
        under_way -= {event.token for event in fast.progress(0.01)}
    assert under_way, "25 MiB were taken from a peer of which 1 MiB may be kept"
    for _ in range(100):
        slow.receive(back, TAG)
    assert all(np.array_equal(event.data, data) for event in received(slow, fast, 100))


@needs("network.cancel")
def test_receives_are_cancelled(engines: Open, address: str) -> None:
    one, other = engines(), engines()
    back, there = joined(one, other, address)
    one.cancel(one.receive(back, TAG))
    assert until(one, "received")[-1].code == "CANCELLED"
    one.receive(back, TAG)
    other.send(there, TAG, [b"later"])
    assert received(one, other, 1)[0].data.tobytes() == b"later"


def test_a_message_larger_than_its_receive(engines: Open, address: str) -> None:
    one, other = engines(), engines()
    back, there = joined(one, other, address)
    one.receive(back, TAG, into=np.zeros(10, np.uint8))
    one.receive(back, TAG, into=np.zeros(11, np.uint8))
    other.send(there, TAG, [b"x" * 11])
    other.send(there, TAG, [b"y" * 11])
    first, second = received(one, other, 2)
    assert first.code == "OUT_OF_RANGE"
    assert second.data.tobytes() == b"y" * 11


def test_a_message_larger_than_allowed(engines: Open, address: str) -> None:
    one, other = engines(max_message=100), engines()
    back, there = joined(one, other, address)
    with pytest.raises(HostError) as caught:
        one.send(back, TAG, [b"x" * 101])
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    other.send(there, TAG, [b"x" * 101])
    assert until(one, "lost", other)[-1].peer == back


def test_what_was_sent_before_leaving_comes(engines: Open, address: str) -> None:
    one, other = engines(), engines()
    back, there = joined(one, other, address)
    one.receive(back, TAG)
    one.receive(back, (8, 8))
    other.send(there, TAG, [b"last words"])
    other.close()
    events = until(one, "lost")
    assert [(e.kind, e.code) for e in events] == [
        ("received", "OK"), ("received", "UNAVAILABLE"), ("lost", "UNAVAILABLE"),
    ]  # fmt: skip
    with pytest.raises(HostError) as caught:
        one.send(back, TAG, [b"x"])
    assert caught.value.status == "NOT_FOUND"


def _connect_and_stay(library: str, address: str) -> None:
    from drystone_base.plugins import load_library

    load_library(library, policy="allow_unverified")
    engine = make_engine(address)
    engine.send(engine.connect(address), TAG, [b"here"])
    while True:  # a send that is not done in the call has an event
        engine.progress()


def test_a_peer_that_is_killed(engines: Open, address: str, subject: Subject) -> None:
    one = engines()
    bound = one.listen(address)
    spawn = multiprocessing.get_context("spawn")
    child = spawn.Process(target=_connect_and_stay, args=(str(subject.path), bound))
    child.start()
    one.receive(0, mask=EVERY)
    (event,) = (e for e in until(one, "received") if e.kind == "received")
    one.receive(event.peer, TAG)
    start = time.monotonic()
    child.kill()
    codes = [(e.kind, e.code) for e in until(one, "lost")]
    assert time.monotonic() - start < 2
    assert codes == [("received", "UNAVAILABLE"), ("lost", "UNAVAILABLE")]
    child.join()


def test_after_fork_an_engine_is_the_parents(engines: Open, address: str) -> None:
    one, other = engines(), engines()
    back, there = joined(one, other, address)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            other.send(there, TAG, [b"from the child"])
        except HostError as error:
            status = 0 if error.status == "FAILED_PRECONDITION" else 2
        finally:
            other.close()
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    one.receive(back, TAG)
    other.send(there, TAG, [b"from the parent"])
    assert received(one, other, 1)[0].data.tobytes() == b"from the parent"


def test_waking_and_sleeping(engines: Open) -> None:
    one = engines()
    one.wake()
    start = time.monotonic()
    one.progress(30)
    assert time.monotonic() - start < 10
    used = time.thread_time()
    one.progress(0.5)
    assert time.thread_time() - used < 0.25, "an engine sleeps while nothing happens"


def test_sends_from_several_threads(engines: Open, address: str) -> None:
    one, other = engines(), engines()
    back, there = joined(one, other, address)

    def work(k: int) -> None:
        for n in range(200):
            other.send(there, (k, 0), [struct.pack("q", n)])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(800):
        one.receive(back, mask=EVERY)
    found: dict[int, list[int]] = {}
    for event in received(one, other, 800):
        found.setdefault(event.tag[0], []).append(int(event.data.view(np.int64)[0]))
    for thread in threads:
        thread.join()
    assert found == {k: list(range(200)) for k in range(4)}


def test_addresses_where_nobody_listens(engines: Open, address: str) -> None:
    one, other = engines(), engines()
    bound = one.listen(address)
    with pytest.raises(HostError):
        other.listen(bound)
    one.close()
    with pytest.raises(HostError):
        other.connect(bound)
