"""Large reads by few long requests.

S2-filesystems.
"""

from __future__ import annotations

import hashlib
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from drystone_filesystem import spans
from drystone_filesystem.spans import Fetch, Span
from drystone_filesystem.store import Take
from drystone_filesystem.transfer import Plan, retried

DATA = random.Random(3).randbytes(3_000_001)
HOW = Plan(part=64 << 10, threads=4, attempts=3, first_wait=0.001)


class Source:
    """The data in pieces; each request is written down, and some break off."""

    def __init__(self, *, delay: float = 0.0, breaks: int = 0) -> None:
        self.delay, self.breaks = delay, breaks
        self.requests: list[tuple[int, int]] = []
        self.lock = threading.Lock()

    def __call__(self, start: int, end: int, take: Take) -> None:
        with self.lock:
            self.requests.append((start, end))
            broken, self.breaks = self.breaks > 0, max(self.breaks - 1, 0)
        for place in range(start, end, 10_000):
            time.sleep(self.delay)
            if broken and place > start:
                raise ConnectionResetError("a fault")
            if not take(memoryview(DATA)[place : min(place + 10_000, end)]):
                return


def fetched(source: Source, fetch: Fetch, *ranges: tuple[int, int, bool]) -> str:
    """Run it; the sum that it made of the bytes in order."""
    for start, end, there in ranges or [(0, len(DATA), False)]:
        fetch.add(start, end, there=there)
    total = hashlib.sha256()
    with ThreadPoolExecutor(HOW.threads) as pool:
        fetch.run(pool, total)
    return total.hexdigest()


def made(source: Source, view: bytearray) -> Fetch:
    """A read of all into ``view``."""
    return Fetch(
        memoryview(view),
        source,
        lambda call, place: retried(call, HOW, place),
        step=HOW.part,
        threads=HOW.threads,
    )


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every read counts as fast, however busy the machine is: nobody looks before it ends."""
    monkeypatch.setattr(spans, "_LOOK", 3600.0)


@pytest.mark.usefixtures("fast")
def test_a_fast_read_is_one_request() -> None:
    source, view = Source(), bytearray(len(DATA))
    assert fetched(source, made(source, view)) == hashlib.sha256(DATA).hexdigest()
    assert view == DATA
    assert source.requests == [(0, len(DATA))]


def test_a_slow_read_is_cut_among_more_requests() -> None:
    """Cut at multiples of a part; no byte is asked for by two that both deliver it."""
    source, view = Source(delay=0.005), bytearray(len(DATA))
    spans: list[tuple[int, int]] = []
    fetch = made(source, view)
    fetch.arrived = lambda span, before: spans.append((before, span.place))
    assert fetched(source, fetch) == hashlib.sha256(DATA).hexdigest()
    assert view == DATA
    assert len(source.requests) > 1
    assert all(start % HOW.part == 0 for start, _ in source.requests)
    assert sum(end - start for start, end in spans) == len(DATA)


@pytest.mark.usefixtures("fast")
def test_what_breaks_off_goes_on_from_there() -> None:
    source, view = Source(breaks=2), bytearray(len(DATA))
    fetched(source, made(source, view))
    assert view == DATA
    assert source.requests == [(0, len(DATA)), (10_000, len(DATA)), (20_000, len(DATA))]


@pytest.mark.usefixtures("fast")
def test_what_breaks_off_every_time_is_a_failure() -> None:
    source, view = Source(breaks=1000), bytearray(len(DATA))
    with pytest.raises(ConnectionResetError):
        fetched(source, made(source, view))
    assert len(source.requests) == HOW.attempts


def test_a_transfer_that_moves_on_may_fail_often() -> None:
    """Attempts are those of a part, so a long transfer outlives many failures."""
    attempts, place = 0, 0

    def call() -> None:
        nonlocal attempts, place
        attempts += 1
        place += HOW.part
        if attempts < 20:
            raise ConnectionResetError("a fault")

    retried(call, HOW, lambda: place)
    assert attempts == 20


@pytest.mark.usefixtures("fast")
def test_what_is_there_is_not_asked_for() -> None:
    view = bytearray(len(DATA))
    view[100_000:200_000] = DATA[100_000:200_000]
    source = Source()
    kept: list[Span] = []
    fetch = made(source, view)
    fetch.arrived = lambda span, _before: kept.append(span)
    ranges = [(0, 100_000, False), (100_000, 200_000, True), (200_000, len(DATA), False)]
    assert fetched(source, fetch, *ranges) == hashlib.sha256(DATA).hexdigest()
    assert source.requests == [(0, 100_000), (200_000, len(DATA))]


def test_nothing_is_written_once_it_ended() -> None:
    """A source that answers late finds its reader gone only after it stopped."""
    view = bytearray(len(DATA))

    def source(start: int, _end: int, take: Take) -> None:
        take(memoryview(DATA)[start : start + 10_000])
        raise PermissionError("no")

    fetch = Fetch(
        memoryview(view),
        source,
        lambda call, place: retried(call, HOW, place),
        step=HOW.part,
        threads=2,
    )
    fetch.add(0, len(DATA))
    with ThreadPoolExecutor(2) as pool, pytest.raises(PermissionError):
        fetch.run(pool)
    before = bytes(view)
    time.sleep(0.05)
    assert view == before


def test_ctrl_c_twice_waits_for_who_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The buffer is the caller's again once the read ends, however it does."""
    fetch = made(Source(), bytearray(10))
    fetch._copying, waits = 1, fetch._changed.wait

    def copied() -> None:
        with fetch._changed:
            fetch._copying = 0
            fetch._changed.notify_all()

    def wait(timeout: float | None = None) -> bool:
        monkeypatch.setattr(fetch._changed, "wait", waits)
        threading.Timer(0.1, copied).start()
        raise KeyboardInterrupt

    monkeypatch.setattr(fetch._changed, "wait", wait)
    with pytest.raises(KeyboardInterrupt):
        fetch._end()
    assert fetch._stopped
    assert fetch._copying == 0
