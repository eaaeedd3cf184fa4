"""Threads that wait for stores, so that no caller waits for an answer that may never come.

Clients of stores wait in native code, where Ctrl-C is not heard. So they do it in threads of these,
and who asked waits for the thread, as long as it wants to.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from contextvars import copy_context
from functools import cache, partial
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any, Final, ParamSpec, TypeVar

from drystone_base.core.detached import LOOKS

__all__ = ["Threads", "answer_of", "interruptible"]

P = ParamSpec("P")
T = TypeVar("T")

_IDLE: Final = 10.0
"""Seconds without work after which a thread ends."""
_HELPERS: Final = 64
"""Of the main thread; it asks once at a time, and those that it gave up may still wait."""


_PATIENCE: Final = 0.5
"""Seconds that the end of the program waits for threads that are about to wait themselves."""
_busy: Final[set[int]] = set()


@atexit.register
def _let_them_settle() -> None:
    """One that comes back to the interpreter while that ends is ended among the host's functions.

    So who was on the way to a store may arrive there. Who waits for one does not come back in time.
    """
    end = monotonic() + _PATIENCE
    while _busy and monotonic() < end:
        sleep(0.01)


class Threads(Executor):
    """Up to ``count`` threads that ``with`` does not wait for, nor the end of the program, much."""

    def __init__(self, count: int, name: str = "drystone-files") -> None:
        self._count, self._name = count, name
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._running = self._idle = self._waiting = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a thread call it, in the context of the caller; the answer is the future's."""
        future: Future[T] = Future()
        call = partial(copy_context().run, fn, *args, **kwargs)
        with self._lock:
            self._calls.put((future, call))
            self._waiting += 1
            more = self._waiting > self._idle and self._running < self._count
            self._running += more
        if more:
            self._start(future)
        return future

    def _start(self, future: Future[Any]) -> None:
        """One more thread; where the system has none left, those that run serve the call."""
        try:
            threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        except RuntimeError:
            with self._lock:
                self._running -= 1
                alone = not self._running
            if alone and future.cancel():  # a later thread passes over it
                raise

    def _serve(self) -> None:
        while (taken := self._taken()) is not None:
            future, call = taken
            if future.set_running_or_notify_cancel():
                self._answer(future, call)
            del future, call, taken

    @staticmethod
    def _answer(future: Future[Any], call: Callable[[], Any]) -> None:
        _busy.add(threading.get_ident())
        try:
            future.set_result(call())
        except BaseException as error:  # who waits for it raises it
            future.set_exception(error)
        finally:
            _busy.discard(threading.get_ident())

    def _taken(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        """The next call; None once there was none for a while."""
        with self._lock:
            self._idle += 1
        found = None
        while found is None:
            try:
                found = self._calls.get(timeout=_IDLE)
            except Empty:
                with self._lock:
                    if not self._waiting:
                        self._idle, self._running = self._idle - 1, self._running - 1
                        return None
        with self._lock:
            self._idle, self._waiting = self._idle - 1, self._waiting - 1
        return found


@cache
def _helpers(_process: int) -> Threads:
    return Threads(_HELPERS, "drystone-asking")


def interruptible(call: Callable[[], T]) -> T:
    """What ``call`` answers, or ``KeyboardInterrupt`` as soon as Ctrl-C is pressed.

    Then ``call`` ends by itself, in a thread: it must not write to what is its caller's.
    """
    if threading.current_thread() is not threading.main_thread() or sys.is_finalizing():
        return call()  # which hears of no Ctrl-C; and at the end other threads run no more
    future = _helpers(os.getpid()).submit(call)
    try:
        return answer_of(future)
    finally:
        del future  # with an exception it would hold itself


def answer_of(future: Future[T]) -> T:
    """What a future answers or raises, or ``KeyboardInterrupt`` once Ctrl-C is pressed."""
    while not wait((future,), LOOKS).done:
        pass
    return future.result()
