"""A large read by few long requests: one at first, then more while they make it faster.

A request costs a store time by itself (some copy the whole object for each), and one connection may
be slower than the way to the store. So the read begins as one request; after each look at the rate
the number of requests doubles, as long as the rate grew by the last time and enough is left. A new
request takes the second half of what the slowest has left; where a request breaks off, only the
rest is asked for again.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

from drystone_filesystem.store import Take
from drystone_filesystem.sums import Sum

__all__ = ["Fetch", "Span"]

Source = Callable[[int, int, Take], None]
Again = Callable[[Callable[[], None], Callable[[], int]], None]

_LOOK: Final = 0.2
"""Seconds between two looks at the rate."""
_WORTH: Final = 0.4
"""Seconds that must be left for another request to pay."""
_FASTER: Final = 1.2
_PATIENCE: Final = 2
_HASHED: Final = 4 << 20


@dataclass
class Span:
    """Bytes ``start`` to ``end`` of the buffer; they are there up to ``place``."""

    start: int
    end: int
    place: int
    claimed: int

    @property
    def left(self) -> int:
        """Bytes that have not been received yet."""
        return self.end - self.claimed


class Fetch:
    """The bytes of one read on their way into its buffer.

    ``source(start, end, take)`` hands a range over in pieces, ``again(call, progress)`` calls again
    while a failure may pass, ``arrived(span, before)`` hears of what came. ``step`` is the least
    that is worth a request, where spans are cut.
    """

    def __init__(
        self, view: memoryview, source: Source, again: Again, *, step: int, threads: int
    ) -> None:
        self._view, self._source, self._again = view, source, again
        self._step, self._threads = step, threads
        self._spans: list[Span] = []
        self._waiting: deque[Span] = deque()
        self._changed = threading.Condition()
        self._workers = self._wanted = self._received = self._copying = 0
        self._failure: BaseException | None = None
        self._stopped = False
        self._rate, self._patience = 0.0, _PATIENCE
        self.arrived: Callable[[Span, int], None] = lambda _span, _before: None

    def add(self, start: int, end: int, *, there: bool = False) -> None:
        """A range that is to be fetched, or is in the buffer already; in order, without gaps."""
        span = Span(start, end, end if there else start, end if there else start)
        self._spans.append(span)
        if not there:
            self._waiting.append(span)

    def run(self, pool: Executor, total: Sum | None = None) -> None:
        """Fetch all ranges; ``total`` is fed with the bytes in order. Raises the first failure."""
        hashed, looked, mark = 0, time.monotonic(), 0
        try:
            self._begin(pool, 1)
            while True:
                with self._changed:
                    if self._workers:
                        self._changed.wait(_LOOK / 4)
                    ended = not self._workers or self._failure is not None
                    ready = self._prefix()
                    now, received = time.monotonic(), self._received
                if total is not None:
                    hashed = self._hash(total, hashed, ready)
                if ended:
                    break
                if now - looked >= _LOOK and received > mark:
                    self._consider(pool, (received - mark) / (now - looked))
                    looked, mark = now, received
        finally:
            self._end()
        if self._failure is not None:
            raise self._failure

    # ---- who fetches what ----------------------------------------------------------------------

    def _begin(self, pool: Executor, count: int) -> None:
        with self._changed:
            more = count - self._workers if self._waiting or self._workers else 0
            self._workers += max(more, 0)
            self._wanted = count
        for _ in range(more):
            pool.submit(self._work)

    def _consider(self, pool: Executor, rate: float) -> None:
        """Double the requests where the last time made it faster and enough is left."""
        left = sum(span.left for span in self._spans)
        if not self._patience or left < _WORTH * rate or self._wanted >= self._threads:
            return
        if rate < self._rate * _FASTER:
            self._patience -= 1
            return
        self._rate, self._patience = rate, _PATIENCE
        self._begin(pool, min(2 * self._wanted, self._threads))

    def _take(self) -> Span | None:
        """A range that waits, else the second half of the largest that is on its way."""
        with self._changed:
            if self._stopped or self._failure is not None:
                return None
            if self._waiting:
                return self._waiting.popleft()
            largest = max(self._spans, key=lambda span: span.left)
            middle = largest.claimed + largest.left // 2
            middle += -middle % self._step
            if self._workers > self._wanted or middle + self._step > largest.end:
                return None
            half = Span(middle, largest.end, middle, middle)
            largest.end = middle
            self._spans.insert(self._spans.index(largest) + 1, half)
            return half

    def _work(self) -> None:
        try:
            while (span := self._take()) is not None:
                self._receive(span)
        except BaseException as error:  # the reader raises it
            with self._changed:
                self._failure = self._failure or error
        finally:
            with self._changed:
                self._workers -= 1
                self._changed.notify_all()

    # ---- bytes ---------------------------------------------------------------------------------

    def _receive(self, span: Span) -> None:
        def rest() -> None:
            end = span.end  # of what is asked for; others may take some of it over

            def take(piece: memoryview) -> bool:
                # What came to its end leaves a connection that can serve again.
                return self._put(span, piece) or span.place >= end

            self._source(span.claimed, end, take)
            if span.left > 0 and not self._stopped:
                raise EOFError(f"it ended {span.left} bytes too early")

        self._again(rest, lambda: span.place)

    def _put(self, span: Span, piece: memoryview) -> bool:
        """Copy a piece to its place; whether more of it is wanted."""
        with self._changed:
            if self._stopped:
                return False
            self._copying += 1
            start = span.claimed
            take = min(len(piece), span.left)
            span.claimed += take
        try:
            self._view[start : start + take] = piece[:take]
            with self._changed:
                span.place = start + take
                self._received += take
            self.arrived(span, start)
        finally:
            with self._changed:
                self._copying -= 1
                self._changed.notify_all()
        return span.left > 0 and not self._stopped

    def _prefix(self) -> int:
        """Up to where all bytes are there."""
        for span in self._spans:
            if span.place < span.end:
                return span.place
        return self._spans[-1].end if self._spans else 0

    def _hash(self, total: Sum, hashed: int, ready: int) -> int:
        while hashed < ready:
            step = min(_HASHED, ready - hashed)
            total.update(self._view[hashed : hashed + step])
            hashed += step
        return hashed

    def _end(self) -> None:
        """Nothing may touch the buffer any more; who waits for the store hears of it later."""
        again: KeyboardInterrupt | None = None
        while not self._stopped or self._copying:
            try:
                with self._changed:
                    self._stopped = True
                    while self._copying:
                        self._changed.wait()
            except KeyboardInterrupt as error:  # once more: what is copied has its place till then
                again = error
        if again is not None:
            raise again
