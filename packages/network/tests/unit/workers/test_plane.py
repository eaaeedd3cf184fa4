"""Values between tasks: they come as they went, and what is none ends who sent it."""

from __future__ import annotations

import contextlib
import itertools
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from drystone_base.core.dtypes import as_dtype
from drystone_base.core.errors import BadRequest, HostError, KernelError
from drystone_network.cluster.spec import Task
from drystone_network.workers.links import Links
from drystone_network.workers.plane import Edges, Run
from drystone_network.workers.steps import Edge, Steps

pytestmark = pytest.mark.cases_in_gate(3)

HERE, THERE = Task("w", 0), Task("w", 1)
EDGE = Edge("x:0", THERE.device(), HERE.device())


class Pair(NamedTuple):
    """A task that receives, and the links of one that sends."""

    receiver: Steps
    links: Links

    def begin(self, step: int, seconds: float = 5.0) -> Run:
        """A run on the task that receives."""
        edges = {"key": EDGE}
        meeting = self.receiver.begin(
            step, edges, self.receiver.edges_of(edges), time.monotonic() + seconds
        )
        return meeting._run

    def sender(self, step: int, key: str = "key") -> Run:
        """The same run on the other."""
        edges = Edges({key: (self.links.number(HERE), True)})
        run = self.links.plane.begin(step, edges, time.monotonic() + 5)
        assert run is not None
        return run

    def connect(self) -> None:
        """Let the sender in."""
        self.links.connect(HERE, self.receiver.links.address)

    def raw(self, data: bytes) -> None:
        """Send something in the place of a value."""
        tag = 2, self.receiver.links.plane.tag
        self.links._engine.send(self.links._links[HERE].peer, tag, [data])


@pytest.fixture(params=["tcp://127.0.0.1:0", "shm://"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Two tasks of one token."""
    receiver = Steps(HERE, request.param, "token")
    links = Links(THERE, request.param, "token", id)
    yield Pair(receiver, links)
    links.close()
    receiver.stop()


def values() -> dict[str, Any]:
    """A value of each kind."""
    rng = np.random.default_rng(1)
    names = "float32 float64 int8 uint16 int64 bool complex64 half bfloat16"
    found: dict[str, Any] = {
        name: rng.integers(0, 2, (3, 5)).astype(as_dtype(name).np) for name in names.split()
    }
    found["scalar"] = np.float32(7).reshape(())
    found["empty"] = np.zeros((3, 0, 2), np.int32)
    found["large"] = rng.normal(size=(300, 500))
    found["strings"] = np.array([[b"", b"a"], [b"long" * 99, b"\0\xff"]], object)
    found["no strings"] = np.zeros((0, 3), object)
    found["dead"] = None
    return found


@pytest.mark.parametrize("name", values())
def test_a_value_comes_as_it_went(pair: Pair, name: str) -> None:
    pair.connect()
    want = values()[name]
    run = pair.begin(1)
    pair.sender(1).send("key", want)
    has_come, got = run.receive("key")
    assert has_come
    if want is None:
        assert got is None
        return
    assert got is not None
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert np.array_equal(got, want)


def test_values_of_one_key_keep_their_order_and_may_come_before_their_run(pair: Pair) -> None:
    pair.connect()
    sender = pair.sender(3)
    for k in range(50):
        sender.send("key", np.full(3, k))
    time.sleep(0.1)
    run = pair.begin(3)
    for k in range(50, 100):
        sender.send("key", np.full(3, k))
    got = [run.receive("key")[1] for _ in range(100)]
    assert [int(g[0]) for g in got if g is not None] == list(range(100))


def test_who_waits_is_woken_when_the_run_ends(pair: Pair) -> None:
    run = pair.begin(1, seconds=60)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(run.receive("key")))
    thread.start()
    time.sleep(0.1)
    assert run.awaited() == ["key"]
    run.abort()
    thread.join(5)
    assert found == [(False, None)]
    start = time.monotonic()
    assert pair.begin(2, seconds=0.2).receive("key") == (False, None)
    assert 0.1 < time.monotonic() - start < 5


def test_who_waits_takes_values_though_the_thread_of_the_links_is_busy(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a value wakes one thread, and not two."""
    pair.connect()
    run, busy, free = pair.begin(1, seconds=60), threading.Event(), threading.Event()

    def hold(_: Any) -> None:
        busy.set()
        assert free.wait(60)

    monkeypatch.setattr(pair.receiver.links, "_handle", hold)
    pair.links._engine.connect(pair.receiver.links.address)
    assert busy.wait(60)
    sender = pair.sender(1)
    for k in range(20):
        sender.send("key", np.full(3, k))
        has_come, got = run.receive("key")
        assert has_come
        assert got is not None
        assert got[0] == k
    free.set()


def test_a_task_is_let_in_while_somebody_waits(pair: Pair) -> None:
    run = pair.begin(1, seconds=60)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(run.receive("key")))
    thread.start()
    time.sleep(0.1)  # it has the engine by now
    pair.connect()
    pair.sender(1).send("key", np.full(3, 7))
    thread.join(60)
    assert found[0][0]
    assert found[0][1].tolist() == [7, 7, 7]


def test_many_wait_at_once(pair: Pair) -> None:
    """Of several runs, some of which end before all has come."""
    pair.connect()
    runs = {step: pair.begin(step, seconds=60) for step in range(1, 9)}
    found: dict[int, list[int]] = {step: [] for step in runs}

    def work(step: int) -> None:
        for _ in range(60):
            has_come, got = runs[step].receive("key")
            if not has_come:
                return
            assert got is not None
            found[step].append(int(got[0]))

    threads = [threading.Thread(target=work, args=(step,)) for step in runs]
    for thread in threads:
        thread.start()
    senders = {step: pair.sender(step) for step in runs}
    for k in range(60):
        for step, sender in senders.items():
            if step % 2 or k < 30:
                sender.send("key", np.full(3 if k % 7 else 200_000, k))
    for step, run in runs.items():
        if step % 2 == 0:
            run.abort()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    for step, got in found.items():
        assert got == list(range(60 if step % 2 else len(got)))


def test_large_values_go_while_nobody_waits(pair: Pair) -> None:
    pair.connect()
    large = np.arange(4 << 20)
    for k in range(3):
        pair.sender(1).send("key", large + k)
    time.sleep(0.3)
    run = pair.begin(1, seconds=60)
    for k in range(3):
        assert np.array_equal(run.receive("key")[1], large + k)


def test_a_run_that_has_ended_does_not_begin(pair: Pair) -> None:
    pair.receiver.end(9)
    with pytest.raises(KernelError) as caught:
        pair.begin(9)
    assert caught.value.code == "run-cancelled"


def test_what_cannot_be_sent_says_why(pair: Pair) -> None:
    sender = pair.sender(1)
    with pytest.raises(HostError) as lost:
        sender.send("key", np.zeros(3))
    assert lost.value.status == "UNAVAILABLE"
    pair.connect()
    with pytest.raises(BadRequest) as foreign:
        sender.send("key", np.array([object()], object))
    assert foreign.value.code == "cannot-send"
    sender.abort()
    with pytest.raises(HostError) as ended:
        sender.send("key", np.zeros(3))
    assert ended.value.status == "CANCELLED"


@pytest.mark.parametrize("token", ["", "wrong"])
def test_values_of_who_was_not_let_in_are_not_taken(token: str) -> None:
    receiver = Steps(HERE, "tcp://127.0.0.1:0", "right")
    links = Links(THERE, "tcp://127.0.0.1:0", token, id)
    pair = Pair(receiver, links)
    try:
        with pytest.raises(HostError) as caught:
            pair.connect()
        assert caught.value.code == "cluster-token"
        peer = links._engine.connect(receiver.links.address)
        links.plane.route(links.number(HERE), peer, receiver.links.plane.tag)
        run = pair.begin(1, seconds=0.3)
        pair.sender(1).send("key", np.zeros(3))
        assert run.receive("key") == (False, None)
    finally:
        links.close()
        receiver.stop()


def test_a_task_sends_on_edges_of_its_own_alone(pair: Pair) -> None:
    pair.connect()
    other = Edge("x:0", Task("w", 2).device(), HERE.device())
    edges = {"key": EDGE, "other": other}
    native = pair.receiver.edges_of(edges)
    meeting = pair.receiver.begin(1, edges, native, time.monotonic() + 0.5)
    pair.sender(1, "other").send("other", np.zeros(3))
    pair.sender(1, "none").send("none", np.zeros(3))
    assert meeting._run.receive("other") == (False, None)


HEAD = struct.Struct("<IIQIIQ")
MAGIC = 0x32565344


def framed(dtype: int, dims: list[int], data: bytes, *, step: int = 1, size: int = -1) -> bytes:
    """A message as the plane makes it, or nearly."""
    key = b"key"
    head = HEAD.pack(MAGIC, dtype, step, len(key), len(dims), len(data) if size < 0 else size)
    head += struct.pack(f"<{len(dims)}q", *dims) + key
    return head + b"\0" * (-len(head) % 64) + data


LENGTHS = struct.Struct("<2Q")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"x" * 31,
        framed(1, [3], b"\0" * 12)[:-1],
        framed(1, [3], b"\0" * 13),
        framed(1, [3], b"\0" * 12, size=1 << 60),
        framed(1, [-3], b"\0" * 12),
        framed(1, [1 << 40, 1 << 40], b"\0" * 12),
        framed(1, [3] * 64, b""),
        framed(0, [3], b"\0" * 12),
        framed(0, [], b"\0"),
        framed(10, [2], b"\1\2"),
        framed(20, [], b""),
        framed(21, [], b""),
        framed(101, [3], b"\0" * 12),
        framed(7, [2], LENGTHS.pack(1, 2) + b"ab"),
        framed(7, [2], LENGTHS.pack(1, (1 << 64) - 1) + b"ab"),
        framed(7, [1 << 40], b""),
        HEAD.pack(MAGIC + 1, 1, 1, 3, 0, 4) + b"key" + b"\0" * 33,
        HEAD.pack(MAGIC, 1, 1, (1 << 32) - 1, 0, 4) + b"\0" * 64,
    ],
)  # fmt: skip
def test_what_is_no_value_ends_who_sent_it(pair: Pair, said: bytes) -> None:
    pair.connect()
    run = pair.begin(1)
    data = np.arange(3, dtype=np.float32).tobytes()
    pair.raw(framed(1, [3], data))
    assert run.receive("key")[1] is not None
    pair.raw(said)
    end = time.monotonic() + 5
    while HERE in pair.links._links:
        assert time.monotonic() < end, "it goes on"
        time.sleep(0.01)
    assert run.receive("key") == (False, None)
    pair.connect()
    pair.raw(framed(1, [3], data, step=2))
    assert pair.begin(2).receive("key")[1] is not None


def test_spoiled_values_do_no_harm(pair: Pair) -> None:
    """What comes of them is another value, a value of something else, or the sender's end."""
    rng = np.random.default_rng(3)
    good = framed(7, [2], LENGTHS.pack(1, 2) + b"abc")
    for _ in range(150):
        bad = bytearray(good)
        for _ in range(int(rng.integers(1, 4))):
            bad[int(rng.integers(0, len(bad)))] = int(rng.integers(0, 256))
        with contextlib.suppress(KeyError, HostError):  # it was ended for the one before
            pair.connect()
            pair.raw(bytes(bad))
    end = time.monotonic() + 30
    for step in itertools.count(2):  # the last of them may still have the sender ended
        assert time.monotonic() < end, "nobody is let in any more"
        run = pair.begin(step, seconds=1)
        with contextlib.suppress(KeyError, HostError):
            pair.connect()
            pair.raw(framed(1, [], struct.pack("<f", 5.0), step=step))
            if np.array_equal(run.receive("key")[1], np.float32(5)):
                return
