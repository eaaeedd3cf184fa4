"""Reading behind schemes: parts at once, ahead of the reader, again where it failed, and cached."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from drystone_filesystem._failures import StoreFailure, status_of
from drystone_filesystem.cache import Blocks, blocks
from drystone_filesystem.environment import AHEAD, ATTEMPTS, PART_MB, SECONDS, THREADS
from drystone_filesystem.spans import Fetch, Span
from drystone_filesystem.store import Stat, Store
from drystone_filesystem.sums import Sum, sum_of
from drystone_filesystem.waiting import Threads, answer_of, interruptible

__all__ = ["HEAD", "Plan", "Reader", "plan", "progress", "retried"]

T = TypeVar("T")
Progress = Callable[[str, int, int], None]

HEAD: Final = 1 << 16
"""Bytes of the least piece that is asked for."""
_AGAIN: Final = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "DATA_LOSS", "ABORTED"})
_watchers: Final[list[Progress]] = []


@dataclass(frozen=True)
class Plan:
    """How reads are done: bytes of a part, parts at once and ahead, attempts, seconds in all.

    Each has a variable: ``DRYSTONE_FILES_PART_MB``, ``_THREADS``, ``_AHEAD``, ``_ATTEMPTS``,
    ``_SECONDS``.
    """

    part: int = 8 << 20
    threads: int = 8
    ahead: int = 2
    attempts: int = 4
    seconds: float = 120.0
    first_wait: float = field(default=0.05, repr=False)


def plan() -> Plan:
    """The plan that the environment states."""

    return Plan(
        part=max(int(PART_MB.value() * (1 << 20)), 1),
        threads=THREADS.value(),
        ahead=AHEAD.value(),
        attempts=ATTEMPTS.value(),
        seconds=SECONDS.value(),
    )


@contextmanager
def progress(watcher: Progress) -> Iterator[None]:
    """Have ``watcher(path, bytes, size)`` called for each part that arrives or is uploaded.

    It is called from several threads.
    """
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def tell(path: str, count: int, size: int) -> None:
    """Tell those who watch."""
    for watcher in tuple(_watchers):
        watcher(path, count, size)


def retried(call: Callable[[], T], how: Plan, place: Callable[[], int] = lambda: 0) -> T:
    """What ``call`` answers; again, after a wait that doubles, while its failure may pass.

    A store that says when to come back is asked then, not before. Attempts and seconds are those of
    a part: they start over when ``place()`` moved on by one.
    Ctrl-C ends it at once (``interruptible``).
    """
    begin, attempt, before, wait = time.monotonic(), 0, place(), how.first_wait
    while True:
        try:
            return interruptible(call)
        except Exception as error:
            attempt += 1
            if place() - before >= how.part:
                begin, attempt, before, wait = time.monotonic(), 1, place(), how.first_wait
            left = begin + how.seconds - time.monotonic()
            passes = status_of(error) in _AGAIN or getattr(error, "passes", False)
            after = float(getattr(error, "after", 0.0))
            passes = passes and not getattr(error, "is_final", False)
            if not passes or attempt >= how.attempts or left < max(wait, after):
                raise
        time.sleep(max(wait * (0.5 + random.random()), after))
        wait *= 2


_pools: Final[dict[tuple[int, int], Threads]] = {}
_pools_lock: Final = threading.Lock()


def _pool(threads: int) -> Threads:
    """The threads of this process; a forked child makes its own."""
    with _pools_lock:
        key = (os.getpid(), threads)
        if key not in _pools:
            _pools[key] = Threads(threads)
        return _pools[key]


class Reader:
    """One version of a file, read by parts that begin at multiples of the plan's part."""

    def __init__(
        self, store: Store, name: str, path: str, stat: Stat, how: Plan, head: bytes = b""
    ) -> None:
        self._store, self._path, self._stat, self._how = store, path, stat, how
        # Without a version it is not known whether another reader's bytes are this file's.
        self._key: tuple[Any, ...] = (name, path, stat.version, stat.length, how.part)
        self._shared = bool(stat.version) and not stat.version.startswith("W/")
        self._last = self._next = -1
        self._head, self._piece = head, (0, head)
        if head:
            tell(path, len(head), stat.length)
        self._own: dict[int, Future[bytes]] = {}
        self._lock, self._process = threading.Lock(), os.getpid()

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """Fill ``buffer`` from ``offset``; how many bytes, fewer only at the end of the file."""
        want = min(len(buffer), max(self._stat.length - offset, 0))
        if want == 0:
            return 0
        if self._process != os.getpid():  # a forked child has none of the threads that read ahead
            self._own, self._lock, self._process = {}, threading.Lock(), os.getpid()
        view = buffer[:want]
        part = self._how.part
        first, last = offset // part, (offset + want - 1) // part
        if want == self._stat.length and self._stat.digest:
            self._whole(view)
        elif self._at_hand(offset, view):
            self._next = offset + want
        elif first == last and want < part:
            self._small(first, offset - first * part, view)
        else:
            self._large(offset, view)
        return want

    # ---- large reads ---------------------------------------------------------------------------

    def _large(self, offset: int, view: memoryview, total: Sum | None = None) -> None:
        """By few long requests, straight to its place; parts that are cached are not asked for."""
        fetch = Fetch(
            view,
            lambda start, end, take: self._store.receive(
                self._path, offset + start, end - start, take, self._stat.version
            ),
            lambda call, place: retried(call, self._how, place),
            step=self._how.part,
            threads=self._how.threads,
        )
        for start, end, part in self._pieces(offset, len(view)):
            if part is not None:
                view[start:end] = part
            fetch.add(start, end, there=part is not None)
        late: list[tuple[int, int]] = []
        fetch.arrived = lambda span, before: self._arrived(offset, view, span, before, late)
        fetch.run(_pool(self._how.threads), total)
        self._store.confirm(self._path, self._stat.version)
        for index, start in late:
            self._keep(index, view[start : start + self._how.part])

    def _pieces(self, offset: int, size: int) -> Iterator[tuple[int, int, memoryview | None]]:
        """Ranges of a read in order: cached parts with their bytes, and what is between."""
        part, start = self._how.part, 0
        for index in range(offset // part, -(-(offset + size) // part)):
            block = self._cached(index)
            if block is None:
                continue
            first = max(index * part - offset, 0)
            end = min((index + 1) * part - offset, size)
            if start < first:
                yield start, first, None
            skipped = offset + first - index * part
            yield first, end, memoryview(block)[skipped : skipped + end - first]
            start = end
        if start < size:
            yield start, size, None

    def _arrived(
        self, offset: int, view: memoryview, span: Span, before: int, late: list[tuple[int, int]]
    ) -> None:
        """Keep the parts that are whole now, and tell who watches.

        Where only ``confirm`` tells whose bytes they were, they are put into ``late``.
        """
        part = self._how.part
        tell(self._path, span.place - before, self._stat.length)
        if not self._shared:
            return
        for index in range((offset + before) // part, (offset + span.place) // part + 1):
            start, end = index * part, min((index + 1) * part, self._stat.length)
            fresh = offset + before < end <= offset + span.place
            if not (fresh and offset + span.start <= start < end):
                continue
            if type(self._store).confirm is Store.confirm:
                self._keep(index, view[start - offset : end - offset])
            else:
                late.append((index, start - offset))

    def _keep(self, index: int, part: memoryview) -> None:
        blocks().keep(self._key, index, part, memory=False)

    def _fetch(self, offset: int, view: memoryview) -> None:
        """Read a range; where it breaks off, only the rest is asked for again."""
        done = 0

        def rest() -> None:
            nonlocal done
            while done < len(view):
                got = self._store.read_into(
                    self._path, offset + done, view[done:], self._stat.version
                )
                if got <= 0:
                    raise EOFError(
                        f"{self._path} ended at byte {offset + done} of {self._stat.length}"
                    )
                done += got
                tell(self._path, got, self._stat.length)

        retried(rest, self._how, lambda: done)

    def _whole(self, view: memoryview) -> None:
        """The whole file, held against its sum.

        A store may state what looks like a sum and is none (S3 with keys of a service). So bytes
        that come twice alike are taken; bytes that differ are read again, then are a failure.
        """
        seen = set()
        for attempt in range(self._how.attempts):
            total = sum_of(self._stat.digest)
            if attempt == 0 and len(self._head) == len(view):
                view[:] = self._head
                if total is not None:
                    total.update(view)
            else:
                self._large(0, view, total)
            digest = "" if total is None else total.hexdigest()
            if total is None or self._stat.digest.endswith(f":{digest}") or digest in seen:
                return
            seen.add(digest)
            blocks().forget(self._key)
        raise StoreFailure(
            "DATA_LOSS",
            f"{self._path} arrived {len(seen)} times with different bytes; "
            f"its sum is {self._stat.digest}",
        )

    # ---- small reads ---------------------------------------------------------------------------

    def _at_hand(self, offset: int, view: memoryview) -> bool:
        """Whether the read could be answered from the last short piece."""
        start, data = self._piece
        if not start <= offset <= offset + len(view) <= start + len(data):
            return False
        view[:] = memoryview(data)[offset - start : offset - start + len(view)]
        return True

    def _small(self, index: int, start: int, view: memoryview) -> None:
        """A short piece, as long as reads jump; whole parts, and the next ahead, where they follow.

        So what no read comes near is not asked for, and small reads in a row cost few requests.
        """
        offset = index * self._how.part + start
        with self._lock:
            follows, self._next = offset == self._next, offset + len(view)
            begun = follows or index in self._own
        if not begun and self._cached(index) is None:
            first = offset - offset % HEAD
            end = min(offset + len(view) + -(offset + len(view)) % HEAD, self._stat.length)
            room = bytearray(end - first)
            self._fetch(first, memoryview(room))
            self._store.confirm(self._path, self._stat.version)
            view[:] = memoryview(room)[offset - first : offset - first + len(view)]
            self._piece = (first, bytes(room))
            return
        block = self._block(index)
        view[:] = memoryview(block)[start : start + len(view)]
        with self._lock:
            follows, self._last = index == self._last + 1, index
        if follows and index:
            for further in range(index + 1, index + 1 + self._how.ahead):
                if further * self._how.part < self._stat.length:
                    self._begin(further)

    def _block(self, index: int) -> bytes:
        cached = self._cached(index)
        if cached is not None:
            return cached
        try:
            return answer_of(self._begin(index))
        finally:
            with self._lock:
                if self._shared:
                    self._own.pop(index, None)
                while len(self._own) > 2 * self._how.ahead + 2:
                    del self._own[min(self._own)]

    def _begin(self, index: int) -> Future[bytes]:
        """The part that is on its way; sent for now if it is not."""
        with self._lock:
            future = self._own.get(index)
            if future is None or (future.done() and future.exception() is not None):
                future = self._own[index] = _pool(self._how.threads).submit(self._load, index)
            return future

    def _load(self, index: int) -> bytes:
        cached = self._cached(index)
        if cached is not None:
            return cached
        start = index * self._how.part
        room = bytearray(min(self._how.part, self._stat.length - start))
        self._fetch(start, memoryview(room))
        self._store.confirm(self._path, self._stat.version)
        block = bytes(room)
        if self._shared:
            blocks().keep(self._key, index, memoryview(block), memory=True)
        return block

    def _cached(self, index: int) -> bytes | None:
        kept: Blocks = blocks()
        return kept.find(self._key, index) if self._shared else None
