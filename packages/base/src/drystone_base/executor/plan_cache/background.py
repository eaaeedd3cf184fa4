"""Work that is put off until no caller waits for it: for a second, or until the process ends."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from typing import Final

__all__ = ["BACKGROUND", "Background"]

_SECONDS: Final = 1.0


class Background:
    """Does work in a thread of its own, ``seconds`` after the first of it came.

    A process that ends does at once what is left, unless a signal kills it or it takes the way of
    ``os._exit``; one that was forked meanwhile leaves it to its parent.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.forget()

    def forget(self) -> None:
        """Drop what is to be done."""
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None
        self._works: list[Callable[[], None]] = []

    def add(self, work: Callable[[], None]) -> None:
        """Have something done later; never where there is no room for a thread any more."""
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="drystone later", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # too many, or the interpreter is going
                    return
                self._thread = thread
            self._works.append(work)

    def finish(self) -> None:
        """Have all of it done now; returns when it is."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            self._hurry.set()
            thread.join()
            self._hurry.clear()

    def _run(self) -> None:
        self._hurry.wait(self._seconds)
        try:
            while works := self._taken():
                for work in works:
                    work()
        except BaseException:  # Python says which; what comes later has a thread again
            with self._lock:
                self._thread = None
            raise

    def _taken(self) -> list[Callable[[], None]]:
        """What is to be done; the thread ends where that is nothing."""
        with self._lock:
            works, self._works = self._works, []
            if not works:
                self._thread = None
            return works


BACKGROUND: Final = Background(_SECONDS)
atexit.register(BACKGROUND.finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BACKGROUND.forget)
